import { describe, expect, it } from "vitest";

import { WordCount } from "../../../src/chat/draft/word_count";

describe("the words of a growing text", () => {
  it("are counted the same, however it is cut", () => {
    const text = "one  two\n\nthree-four five";
    const count = new WordCount();
    const counts = Array.from(text, (_, place) => count.update(text.slice(0, place + 1)));
    expect(counts.at(-1)).toBe(4);
    expect(new WordCount().update(text)).toBe(4);
    expect(counts[2]).toBe(1);
  });

  it("are counted again when the text starts over", () => {
    const count = new WordCount();
    count.update("one two three");
    expect(count.update("one")).toBe(1);
    expect(count.update("")).toBe(0);
  });
});
