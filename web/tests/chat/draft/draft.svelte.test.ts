import { describe, expect, it } from "vitest";

import { Draft } from "../../../src/chat/draft/draft.svelte";
import { MemoryStorage } from "../../../src/settings/shelf";

describe("a draft", () => {
  it("outlives a reload, each conversation its own", () => {
    const storage = new MemoryStorage();
    const draft = new Draft(storage);
    draft.text = "new";
    draft.turnTo("c");
    draft.text = "old";
    const again = new Draft(storage);
    expect(again.text).toBe("new");
    again.turnTo("c");
    expect(again.text).toBe("old");
    again.forget("c");
    again.turnTo("c");
    expect(again.text).toBe("");
  });

  it("goes with a conversation that gets its name", () => {
    const storage = new MemoryStorage();
    const draft = new Draft(storage);
    draft.text = "typed on";
    draft.become("c");
    expect([draft.text, storage.get("duologue.draft"), storage.get("duologue.draft.c")]).toEqual(["typed on", null, "typed on"]);
  });
});
