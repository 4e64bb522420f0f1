import { describe, expect, it } from "vitest";

import { clockTime, frameAt, lineAt, waveformPath } from "../../../src/voice/replay/replay";
import type { RecordedLine } from "../../../src/wire/voice/recordings";

const line = (start: number, end: number): RecordedLine => ({ side: "caller", start, end, text: "", turn: 1, reply: null, unheard: "" });

describe("a recording that plays", () => {
  it("is at the line spoken last, and at none before the first", () => {
    const lines = [line(1000, 2000), line(3000, 4000)];
    expect([0, 1000, 2500, 3000, 9000].map((moment) => lineAt(lines, moment))).toEqual([-1, 0, 0, 1, 1]);
    expect(lineAt([], 5)).toBe(-1);
  });

  it("is at the line that began last, in whatever order lines are kept", () => {
    expect(lineAt([line(3000, 4000), line(1000, 2000)], 3500)).toBe(0);
  });

  it("shows the last picture so far", () => {
    const frames = [{ at: 100, index: 0 }, { at: 900, index: 1 }];
    expect([0, 100, 899, 900].map((moment) => frameAt(frames, moment))).toEqual([null, 0, 0, 1]);
  });

  it("has times as on a clock", () => {
    expect([0, 5999, 754_000, 3_723_000].map(clockTime)).toEqual(["0:00", "0:05", "12:34", "1:02:03"]);
  });

  it("is drawn with a stroke for each bin, and a dot where it is quiet", () => {
    expect(waveformPath([0, 255], -1)).toBe("M0.5 0V-0.020M1.5 0V-1.000");
    expect(waveformPath([255], 1)).toBe("M0.5 0V1.000");
  });
});
