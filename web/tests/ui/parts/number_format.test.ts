import { afterEach, describe, expect, it } from "vitest";

import { setLanguage } from "../../../src/language/language.svelte";
import { duration, magnitude, percent, tokens, wholeSeconds } from "../../../src/ui/parts/number_format";

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
});

describe("numbers in another language", () => {
  afterEach(() => setLanguage("en"));

  it("have its marks and its words", async () => {
    await setLanguage("de");
    expect([magnitude(5_242_880), duration(214), tokens(12_000), percent(0.83)].map(spaced)).toEqual(["5,2 Mio.", "0,21 s", "12.000 Token", "83 %"]);
  });
});
