import { describe, expect, it } from "vitest";

import { appliedLimits, fieldsOf, limitsOf, UNLIMITED } from "../../src/usage/key_limits";

const EMPTY = fieldsOf({});

describe("the limits of a key in a form", () => {
  it("are empty fields where nothing was set, and null again", () => {
    expect(EMPTY).toEqual({ counts: { concurrent: "", requests_per_minute: "", tokens_per_minute: "", tokens_per_day: "" }, weight: "", models: "" });
    expect(limitsOf(EMPTY)).toEqual({ concurrent: null, requests_per_minute: null, tokens_per_minute: null, tokens_per_day: null, weight: null, models: null });
  });

  it("come back as they were written", () => {
    const limits = { concurrent: 0, requests_per_minute: 5, tokens_per_minute: null, tokens_per_day: 1e6, weight: 2.5, models: ["qwen*", "small"] };
    expect(limitsOf(fieldsOf(limits))).toEqual(limits);
    expect(limitsOf(fieldsOf({ models: [] }))).toMatchObject({ models: [] });
  });

  it("may be written with separators, as each language has them", () => {
    for (const text of ["1,000,000", "1.000.000", "1 000 000", "1’000’000", "1_000_000"])
      expect(limitsOf({ ...EMPTY, counts: { ...EMPTY.counts, tokens_per_day: text }, weight: "0,5" })).toMatchObject({ tokens_per_day: 1_000_000, weight: 0.5 });
  });

  it("are refused by the names of the fields that cannot be read", () => {
    expect(limitsOf({ counts: { ...EMPTY.counts, concurrent: "-1", tokens_per_day: "many" }, weight: "0", models: "" })).toEqual(["concurrent", "tokens_per_day", "weight"]);
  });

  it("replace the defaults, also by no limit", () => {
    const defaults = { ...UNLIMITED, concurrent: 4, tokens_per_day: 1000 };
    expect(appliedLimits({ concurrent: 0, models: ["a"] }, defaults)).toEqual({ ...defaults, concurrent: 0, models: ["a"] });
  });
});
