import { describe, expect, it } from "vitest";

import { messageOf, newId, resendable, textOf } from "../../../src/wire/chat/rows";

describe("a row", () => {
  it("has back what the server left out", () => {
    expect(messageOf({ id: "a", parent: null, role: "tool", call: { name: "clock" } })).toMatchObject({
      status: "done",
      kind: "message",
      content: [],
      call: { name: "clock", state: "waiting", server: "" },
    });
  });

  it("says its text", () => {
    expect(textOf([{ type: "text", text: "a" }, { type: "image", blob: "h", mime: "image/png" }, { type: "text", text: "b" }])).toBe("ab");
  });

  it("is sent once more with its files and another text", () => {
    const content = [
      { type: "text", text: "old" },
      { type: "image", blob: "h", mime: "image/png", name: "cat.png", shown: "s" },
      { type: "document", blob: "d", mime: "application/pdf", given: "pages" },
      { type: "resource", server: "s", uri: "u" },
    ] as const;
    expect(resendable(content, "new")).toEqual([
      { type: "file", blob: "h", name: "cat.png" },
      { type: "file", blob: "d", name: "", given: "pages" },
      { type: "resource", server: "s", uri: "u" },
      { type: "text", text: "new" },
    ]);
    expect(resendable([], " ")).toEqual([]);
  });
});

describe("an id", () => {
  it("is one the server takes, and new each time", () => {
    expect(newId()).toMatch(/^[0-9a-f]{32}$/);
    expect(newId()).not.toBe(newId());
  });
});
