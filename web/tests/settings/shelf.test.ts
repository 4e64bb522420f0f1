import { describe, expect, it } from "vitest";

import { BrowserShelf } from "../../src/settings/shelf";

/** A storage as a browser has it, until it is full. */
class Storage {
  readonly texts = new Map<string, string>();
  full = false;

  getItem(key: string): string | null {
    return this.texts.get(key) ?? null;
  }

  setItem(key: string, text: string): void {
    if (this.full) throw new DOMException("full", "QuotaExceededError");
    this.texts.set(key, text);
  }

  removeItem(key: string): void {
    this.texts.delete(key);
  }
}

describe("a browser's shelf", () => {
  it("keeps in the browser what there is room for", () => {
    const storage = new Storage();
    const shelf = new BrowserShelf(() => storage as never);
    shelf.put("a", "1");
    expect([shelf.get("a"), storage.texts.get("a")]).toEqual(["1", "1"]);
    shelf.put("a", null);
    expect([shelf.get("a"), storage.texts.size]).toEqual([null, 0]);
  });

  it("keeps for as long as the page lives what there is no room for, and not what was there before it", () => {
    const storage = new Storage();
    const shelf = new BrowserShelf(() => storage as never);
    shelf.put("a", "1");
    storage.full = true;
    shelf.put("a", "2");
    expect(shelf.get("a")).toBe("2");
    storage.full = false;
    shelf.put("a", "3");
    expect([shelf.get("a"), storage.texts.get("a")]).toEqual(["3", "3"]);
    storage.full = true;
    shelf.put("a", "4");
    shelf.put("a", null);
    expect(shelf.get("a")).toBe(null);
  });

  it("keeps for as long as the page lives where a browser closes its storage", () => {
    const shelf = new BrowserShelf(() => {
      throw new DOMException("blocked", "SecurityError");
    });
    expect(shelf.get("a")).toBe(null);
    shelf.put("a", "1");
    expect(shelf.get("a")).toBe("1");
    shelf.put("a", null);
    expect(shelf.get("a")).toBe(null);
  });
});
