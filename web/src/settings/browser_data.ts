// Removes what the page has stored in this browser. The storages are passed in as functions: naming one may already
// throw.

const PREFIX = "duologue.";

interface WebStorage {
  readonly length: number;
  key(index: number): string | null;
  removeItem(key: string): void;
}

interface CacheList {
  keys(): Promise<readonly string[]>;
  delete(name: string): Promise<boolean>;
}

/** Prefix of the service worker's cache names for the page at `scope`, the same as in offline/cache_policy.ts. The
 * worker is a script of its own and cannot share a module with the page. */
export function cachePrefix(scope: string): string {
  return `duologue ${scope} `;
}

/** Removes every entry of the page. */
export function clearStorage(storages: readonly (() => WebStorage)[]): void {
  for (const storage of storages) {
    try {
      const store = storage();
      const keys = Array.from({ length: store.length }, (_, index) => store.key(index));
      for (const key of keys) if (key?.startsWith(PREFIX)) store.removeItem(key);
    } catch {
      // The browser blocks this storage, so nothing of the page is in it.
    }
  }
}

/** Also removes the cached copies of the page at `scope`; other servers may share the origin. `caches` is null where
 * the browser has no cache storage. */
export async function clearBrowserData(storages: readonly (() => WebStorage)[], caches: CacheList | null, scope: string): Promise<void> {
  clearStorage(storages);
  const names = (await caches?.keys().catch(() => [])) ?? [];
  for (const name of names.filter((store) => store.startsWith(cachePrefix(scope)))) await caches?.delete(name).catch(() => false);
}
