import { describe, expect, it } from "vitest";

import { byDay, byGroup, dayOf, lastDays, total } from "../../src/usage/usage_report";
import type { UsageRow } from "../../src/wire/server/usage";

function row(day: string, key: string, model: string, requests: number, tokens: number): UsageRow {
  return { day, key, user: `u-${key}`, name: `name of ${key}`, prefix: "duo_ab", model, requests, errors: 1, prompt_tokens: tokens, cached_tokens: 2, completion_tokens: 10, sound_in_seconds: 1.5, sound_out_seconds: 0.5 };
}

const ROWS = [row("2026-11-25", "k1", "small", 1, 100), row("2026-11-27", "k1", "large", 2, 50), row("2026-11-27", "k2", "small", 9, 5)];

describe("usage", () => {
  it("is added up", () => {
    expect(total(ROWS)).toEqual({ requests: 12, errors: 3, prompt: 155, cached: 6, completion: 30, sound: 6 });
    expect(total([]).requests).toBe(0);
  });

  it("has a day for each day, also for those without any", () => {
    expect(lastDays("2026-03-01", 3)).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
    expect(byDay(ROWS, lastDays("2026-11-27", 3)).map(({ day, requests }) => [day, requests])).toEqual([
      ["2026-11-25", 1],
      ["2026-11-26", 0],
      ["2026-11-27", 11],
    ]);
    expect(dayOf(Date.UTC(2026, 10, 27, 23, 59))).toBe("2026-11-27");
  });

  it("is by key or by model, the most first", () => {
    expect(byGroup(ROWS, "key", "tokens").map(({ label, prefix, prompt }) => [label, prefix, prompt])).toEqual([
      ["name of k1", "duo_ab", 150],
      ["name of k2", "duo_ab", 5],
    ]);
    expect(byGroup(ROWS, "model", "requests").map(({ label, prefix, requests }) => [label, prefix, requests])).toEqual([
      ["small", "", 10],
      ["large", "", 2],
    ]);
  });
});
