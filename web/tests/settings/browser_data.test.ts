import { describe, expect, it } from "vitest";

import { cacheName } from "../../src/offline/cache_policy";
import { cachePrefix, clearBrowserData } from "../../src/settings/browser_data";

function storage(...keys: string[]) {
  return {
    keys,
    get length() {
      return this.keys.length;
    },
    key(index: number) {
      return this.keys[index] ?? null;
    },
    removeItem(key: string) {
      this.keys = this.keys.filter((other) => other !== key);
    },
  };
}

describe("what a browser keeps", () => {
  it("is removed, and nothing else", async () => {
    const kept = storage("duologue.draft", "theirs", "duologue.files.c1");
    const caches = new Set(["duologue https://here/talk/ a", "duologue https://here/talk/ b", "duologue https://here/ a", "theirs"]);
    await clearBrowserData([() => kept], { keys: async () => [...caches], delete: async (name) => caches.delete(name) }, "https://here/talk/");
    expect(kept.keys).toEqual(["theirs"]);
    expect([...caches]).toEqual(["duologue https://here/ a", "theirs"]);
  });

  it("may be closed to us", async () => {
    const kept = storage("duologue.draft");
    const closed = () => {
      throw new DOMException("denied", "SecurityError");
    };
    await clearBrowserData([closed, () => kept], { keys: () => Promise.reject(new Error("denied")), delete: async () => false }, "https://here/");
    expect(kept.keys).toEqual([]);
    await clearBrowserData([], null, "https://here/");
  });

  it("is found by the name the service worker gave it", () => {
    expect(cacheName("https://here/", "b1").startsWith(cachePrefix("https://here/"))).toBe(true);
  });
});
