import { afterEach, describe, expect, it } from "vitest";

import { speak } from "../../../src/language/language.svelte";
import { detail, duration, type Figures, figuresOf, magnitude, percent, summary, tokens, wholeSeconds } from "../../../src/ui/parts/number_format";

const NOTHING: Figures = { tokens: 1, thought: 0, input: null, cached: 0, generating: null, first: null, queue: 0, estimated: false };
const spaced = (text: string) => text.replaceAll("\u00a0", " ");

describe("numbers as people read them", () => {
  it("names magnitudes", () => {
    expect([5_242_880, 7_615_616_512, 360, 999_999, 70e9].map(magnitude).map(spaced)).toEqual([
      "5.2 million",
      "7.6 billion",
      "360",
      "1 million",
      "70 billion",
    ]);
  });

  it("gives times only the precision that matters", () => {
    expect([0, 8, 214, 1000, 3440, 9960, 125_000].map(duration).map(spaced)).toEqual(["0 ms", "8 ms", "0.21 s", "1.0 s", "3.4 s", "10 s", "2 min 5 s"]);
    expect([-5, 400, 1600, 120_000].map(wholeSeconds).map(spaced)).toEqual(["0 s", "0 s", "2 s", "2 min"]);
  });

  it("keeps a number with its unit", () => {
    expect(wholeSeconds(3000)).toBe("3\u00a0s");
  });

  it("counts tokens", () => {
    expect([1, 38, 12_000].map(tokens)).toEqual(["1 token", "38 tokens", "12,000 tokens"]);
  });

  it("sums a reply up with what is known, and no more", () => {
    expect(spaced(summary({ ...NOTHING, tokens: 38, input: 9, generating: 340, first: 214 }))).toBe("38 tokens · 112 per second · first after 0.21 s");
    expect(summary(NOTHING)).toBe("1 token");
    expect(summary({ ...NOTHING, tokens: 5, generating: 5 })).toBe("5 tokens");
  });

  it("tells the rest of it on demand: who, what was read, what was waited for", () => {
    expect(detail(NOTHING, "mini")).toBe("by mini");
    const figures = { ...NOTHING, tokens: 50, thought: 20, input: 1200, cached: 1000, queue: 2300 };
    expect(spaced(detail(figures, "mini"))).toBe("by mini · 1,200 tokens read, 1,000 of them kept from before · 20 tokens of it thought · waited 2.3 s in the queue");
    expect(detail({ ...NOTHING, input: 7, estimated: true }, "mini")).toContain("~7 tokens read");
    expect(summary({ ...NOTHING, tokens: 7, estimated: true })).toBe("~7 tokens");
  });

  it("adds the turns of a reply up", () => {
    const turns = [
      { usage: { input: 10, output: 5 }, timings: { generate: 100, first: 40 } },
      { usage: null, timings: null },
      { usage: { input: 30, output: 7 }, timings: { generate: 50, first: 20 } },
    ];
    expect(figuresOf(turns)).toEqual({ ...NOTHING, tokens: 12, input: 30, generating: 150, first: 40 });
    expect(figuresOf([{ usage: null, timings: null }])).toBeNull();
  });
});

describe("numbers in another language", () => {
  afterEach(() => speak("en"));

  it("have its marks and its words", async () => {
    await speak("de");
    expect([magnitude(5_242_880), duration(214), tokens(12_000), percent(0.83)].map(spaced)).toEqual(["5,2 Millionen", "0,21 s", "12.000 Token", "83 %"]);
  });

  it("have a word for one of many", async () => {
    await speak("de");
    expect([1e6, 1.1e6, 1e9].map(magnitude).map(spaced)).toEqual(["1 Million", "1,1 Millionen", "1 Milliarde"]);
  });
});
