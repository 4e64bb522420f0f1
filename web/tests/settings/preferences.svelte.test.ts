import { describe, expect, it } from "vitest";

import { Preferences } from "../../src/settings/preferences.svelte";
import { BrowserShelf, MemoryShelf } from "../../src/settings/shelf";

describe("preferences", () => {
  it("outlive a reload", () => {
    const shelf = new MemoryShelf();
    const preferences = new Preferences(shelf);
    preferences.theme = "dark";
    preferences.thinking = true;
    preferences.model = "big";
    expect(new Preferences(shelf)).toMatchObject({ theme: "dark", thinking: true, model: "big" });
  });

  it.each(["{", "null", "[]", '{"theme":"plaid","thinking":7,"model":{}}'])("fall back to their first values on %s", (kept) => {
    const shelf = new MemoryShelf();
    shelf.put("duologue.preferences", kept);
    expect(new Preferences(shelf)).toMatchObject({ theme: "system", thinking: false, model: "" });
  });
});

describe("a closed storage", () => {
  it("keeps nothing and throws nothing", () => {
    const shelf = new BrowserShelf(() => {
      throw new DOMException("denied", "SecurityError");
    });
    shelf.put("a", "b");
    expect(shelf.get("a")).toBeNull();
  });
});
