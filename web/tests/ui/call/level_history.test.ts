import { describe, expect, it } from "vitest";

import { LevelHistory } from "../../../src/ui/call/level_history";

describe("the loudness of the last seconds", () => {
  it("is a bar for each moment, the newest at the right, moving left", () => {
    const levels = new LevelHistory();
    for (let now = 0; now <= 180; now += 20) levels.add(now < 60 ? 1 : 0, now);
    const bars = levels.bars(100, 180);
    expect(bars.map(({ x }) => x)).toEqual([88, 92, 96]);
    expect(bars.map(({ size }) => size)).toEqual([1, 0, 0]);
    expect(levels.bars(100, 210).map(({ x }) => x)).toEqual([86, 90, 94]);
  });

  it("shows no more than fits, and nothing before anything was heard", () => {
    const levels = new LevelHistory();
    expect(levels.bars(40, 0)).toEqual([]);
    for (let now = 0; now <= 60_000; now += 20) levels.add(0.5, now);
    expect(levels.bars(40, 60_000).length).toBe(10);
  });
});
