import { describe, expect, it } from "vitest";

import { Sentences } from "../../../src/chat/announce/sentences";

/** The announcements when a text grows by `step` characters at a time. */
function heard(text: string, step = 1): string[] {
  const sentences = new Sentences(() => "Code.");
  const said: string[] = [];
  for (let length = step; length < text.length; length += step) said.push(sentences.next(text.slice(0, length)));
  said.push(sentences.next(text, true));
  return said.filter((part) => part !== "");
}

describe("a growing text, read out", () => {
  it("waits for the end of a sentence, and says each once", () => {
    expect(heard("One two. Three! Four")).toEqual(["One two.", "Three!", "Four"]);
  });

  it("does not take a number's point for an end", () => {
    expect(heard("It is 3.5 metres. Long.")).toEqual(["It is 3.5 metres.", "Long."]);
  });

  it("ends at lines, and leaves the marks of Markdown out", () => {
    expect(heard("# Tea\n- **one**\n- two")).toEqual(["Tea", "- one", "- two"]);
  });

  it("knows sentence ends of other scripts", () => {
    expect(heard("你好。世界")).toEqual(["你好。", "世界"]);
  });

  it("says of a block of code that it is one", () => {
    expect(heard("Look:\n```js\nlet a = 1;\nlet b. c\n```\nDone.")).toEqual(["Look:", "Code.", "Done."]);
    expect(heard("```\nnever closed")).toEqual(["Code."]);
  });

  it("says the same in the end, however it grew", () => {
    const text = "First. Second one!\n\n```py\nx = 1\n```\n\nLast? And a rest";
    for (const step of [1, 3, 7, 50]) expect(heard(text, step).join(" ")).toBe("First. Second one! Code. Last? And a rest");
  });
});
