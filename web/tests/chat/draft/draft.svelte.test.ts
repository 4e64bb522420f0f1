import { describe, expect, it } from "vitest";

import { Draft } from "../../../src/chat/draft/draft.svelte";
import { MemoryStorage } from "../../../src/settings/storage";

describe("a draft", () => {
  it("outlives a reload, each conversation its own", () => {
    const storage = new MemoryStorage();
    const draft = new Draft(storage);
    draft.text = "new";
    draft.switchTo("c");
    draft.text = "old";
    const again = new Draft(storage);
    expect(again.text).toBe("new");
    again.switchTo("c");
    expect(again.text).toBe("old");
    again.delete("c");
    again.switchTo("c");
    expect(again.text).toBe("");
  });

  it("goes with a conversation that gets its name", () => {
    const storage = new MemoryStorage();
    const draft = new Draft(storage);
    draft.text = "typed on";
    draft.assignId("c");
    expect([draft.text, storage.get("duologue.draft"), storage.get("duologue.draft.c")]).toEqual(["typed on", null, "typed on"]);
  });
});
