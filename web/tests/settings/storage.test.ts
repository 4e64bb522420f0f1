import { describe, expect, it } from "vitest";

import { BrowserStorage } from "../../src/settings/storage";

/** A browser's storage that can be full. */
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

describe("the browser's storage", () => {
  it("keeps in the browser what there is room for", () => {
    const browser = new Storage();
    const storage = new BrowserStorage(() => browser as never);
    storage.put("a", "1");
    expect([storage.get("a"), browser.texts.get("a")]).toEqual(["1", "1"]);
    storage.put("a", null);
    expect([storage.get("a"), browser.texts.size]).toEqual([null, 0]);
  });

  it("keeps in memory what does not fit, instead of the old value", () => {
    const browser = new Storage();
    const storage = new BrowserStorage(() => browser as never);
    storage.put("a", "1");
    browser.full = true;
    storage.put("a", "2");
    expect(storage.get("a")).toBe("2");
    browser.full = false;
    storage.put("a", "3");
    expect([storage.get("a"), browser.texts.get("a")]).toEqual(["3", "3"]);
    browser.full = true;
    storage.put("a", "4");
    storage.put("a", null);
    expect(storage.get("a")).toBe(null);
  });

  it("keeps for as long as the page lives where a browser closes its storage", () => {
    const storage = new BrowserStorage(() => {
      throw new DOMException("blocked", "SecurityError");
    });
    expect(storage.get("a")).toBe(null);
    storage.put("a", "1");
    expect(storage.get("a")).toBe("1");
    storage.put("a", null);
    expect(storage.get("a")).toBe(null);
  });
});
