import { describe, expect, it } from "vitest";

import { matchScore, paletteEntries, type PaletteSources } from "../../src/shell/palette";

const sources: PaletteSources = {
  actions: [
    { action: "new-chat", label: "New chat" },
    { action: "theme", label: "Change the theme" },
  ],
  models: [{ model: "big", label: "Answer with big" }],
  chats: [
    { id: "c1", title: "The theme of the opera" },
    { id: "c2", title: "" },
    { id: "c3", title: "Café in Köln" },
  ],
  hits: [{ conversation: "c9", title: "Notes", message: "m1", role: "user", created: 0, snippet: "a theme" }],
};
const ids = (words: string) => paletteEntries(words, sources).map(({ id }) => id);

describe("the palette", () => {
  it("offers the newest chats and every action before anything is typed", () => {
    expect(ids("")).toEqual(["chat-c1", "chat-c3", "action-new-chat", "action-theme"]);
  });

  it("finds actions, chats and places in messages by words in any order", () => {
    expect(ids("theme")).toEqual(["action-theme", "chat-c1", "hit-c9-m1"]);
    expect(ids("theme change")).toContain("action-theme");
    expect(ids("zebra")).toEqual(["hit-c9-m1"]);
  });

  it("offers other models by name", () => {
    expect(ids("big")).toContain("model-big");
  });

  it("minds no accents and no capitals", () => {
    expect(ids("cafe koln")[0]).toBe("chat-c3");
  });

  it("puts first what begins with the words", () => {
    expect(matchScore("New chat", "new")).toBeGreaterThan(matchScore("Renewal", "new"));
    expect(matchScore("A new chat", "new")).toBeGreaterThan(matchScore("Renewal", "new"));
    expect(matchScore("New chat", "old")).toBe(0);
  });
});
