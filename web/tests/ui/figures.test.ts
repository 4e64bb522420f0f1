import { describe, expect, it } from "vitest";

import { counted, duration, figuresOf, magnitude, summary, tokens, wholeSeconds } from "../../src/ui/figures";

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
    expect([0, 214, 1000, 3440, 9960, 125_000].map(duration).map(spaced)).toEqual(["0.00 s", "0.21 s", "1.0 s", "3.4 s", "10 s", "2 min 5 s"]);
    expect([-5, 400, 1600, 120_000].map(wholeSeconds).map(spaced)).toEqual(["0 s", "0 s", "2 s", "2 min"]);
  });

  it("keeps a number with its unit", () => {
    expect(wholeSeconds(3000)).toBe("3\u00a0s");
  });

  it("counts tokens", () => {
    expect([1, 38, 12_000].map(tokens)).toEqual(["1 token", "38 tokens", "12,000 tokens"]);
  });

  it("sums a reply up with what is known, and no more", () => {
    expect(spaced(summary({ tokens: 38, input: 9, generating: 340, first: 214 }))).toBe("38 tokens · 112 per second · first after 0.21 s");
    expect(summary({ tokens: 1, input: null, generating: null, first: null })).toBe("1 token");
    expect(summary({ tokens: 5, input: null, generating: 5, first: null })).toBe("5 tokens");
  });

  it("counts things", () => {
    expect([counted(1, "reply", "replies"), counted(1200, "reply", "replies")].map(spaced)).toEqual(["1 reply", "1,200 replies"]);
  });

  it("adds the turns of a reply up", () => {
    const turns = [
      { usage: { input: 10, output: 5 }, timings: { generate: 100, first: 40 } },
      { usage: null, timings: null },
      { usage: { input: 30, output: 7 }, timings: { generate: 50, first: 20 } },
    ];
    expect(figuresOf(turns)).toEqual({ tokens: 12, input: 30, generating: 150, first: 40 });
    expect(figuresOf([{ usage: null, timings: null }])).toBeNull();
  });
});
