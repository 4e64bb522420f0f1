import { describe, expect, it } from "vitest";

import { forgetLegacy, legacyConversation } from "../../src/chat/legacy_conversation";
import { MemoryStorage } from "../../src/settings/storage";

const KEY = "duologue.conversation";

function shelfWith(value: unknown): MemoryStorage {
  const storage = new MemoryStorage();
  storage.put(KEY, typeof value === "string" ? value : JSON.stringify(value));
  return storage;
}

const legacy = {
  version: 1,
  turns: [
    { id: "u", parent: null, text: "  What is\ntea? " },
    { id: "a", parent: "u", reply: { text: "A plant.", reasoning: "Hm.", model: "mini", stage: "ended", finish: "stop" } },
    { id: "b", parent: "u", reply: { text: "A", model: "mini", stage: "writing", finish: null } },
  ],
  choice: {},
};

describe("a conversation an earlier page kept", () => {
  it("becomes lines of JSON: the conversation, then its rows", () => {
    const lines = legacyConversation(shelfWith(legacy), 1000)!.text.trim().split("\n").map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: "conversation", duologue: 1, conversation: { title: "What is tea?", leaf: "b", created: 1000 } });
    expect(lines.slice(1).map(({ message }) => message)).toMatchObject([
      { id: "u", parent: null, role: "user", content: [{ type: "text", text: "  What is\ntea? " }] },
      { id: "a", parent: "u", role: "assistant", reasoning: "Hm.", model: "mini", status: "done", finish: "stop", created: 1001 },
      { id: "b", parent: "u", role: "assistant", status: "interrupted" },
    ]);
    expect(legacyConversation(shelfWith(legacy), 2000)?.id).toBe(lines[0].conversation.id);
    expect(lines.slice(1).every(({ message }) => message.conversation === lines[0].conversation.id)).toBe(true);
  });

  it("is not there when nothing was kept, or nothing of ours", () => {
    for (const value of ["", "{", "null", { version: 2, turns: [{}] }, { version: 1, turns: [] }]) {
      expect(legacyConversation(shelfWith(value), 0)).toBeNull();
    }
  });

  it("is forgotten once it is over there", () => {
    const storage = shelfWith(legacy);
    forgetLegacy(storage);
    expect(legacyConversation(storage, 0)).toBeNull();
  });
});
