import { describe, expect, it } from "vitest";

import { Draft } from "../../../src/chat/draft/draft.svelte";
import { MemoryShelf } from "../../../src/settings/shelf";

describe("a draft", () => {
  it("outlives a reload, each conversation its own", () => {
    const shelf = new MemoryShelf();
    const draft = new Draft(shelf);
    draft.text = "new";
    draft.turnTo("c");
    draft.text = "old";
    const again = new Draft(shelf);
    expect(again.text).toBe("new");
    again.turnTo("c");
    expect(again.text).toBe("old");
    again.forget("c");
    again.turnTo("c");
    expect(again.text).toBe("");
  });

  it("goes with a conversation that gets its name", () => {
    const shelf = new MemoryShelf();
    const draft = new Draft(shelf);
    draft.text = "typed on";
    draft.become("c");
    expect([draft.text, shelf.get("duologue.draft"), shelf.get("duologue.draft.c")]).toEqual(["typed on", null, "typed on"]);
  });
});
