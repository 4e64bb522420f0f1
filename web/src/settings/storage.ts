// Stores small texts by key. The browser's storage may be full or blocked (private windows, cookie settings); then
// texts are kept in memory as long as the page lives.

export interface TextStorage {
  get(key: string): string | null;
  /** Null removes the entry. */
  put(key: string, text: string | null): void;
}

export class MemoryStorage implements TextStorage {
  readonly #texts = new Map<string, string>();

  get(key: string): string | null {
    return this.#texts.get(key) ?? null;
  }

  put(key: string, text: string | null): void {
    if (text === null) this.#texts.delete(key);
    else this.#texts.set(key, text);
  }
}

export class BrowserStorage implements TextStorage {
  readonly #storage: () => Storage;
  /** Entries the browser refused to store. */
  readonly #beside = new MemoryStorage();

  /** `storage` is called each time, because merely accessing `localStorage` throws where it is blocked. */
  constructor(storage: () => Storage) {
    this.#storage = storage;
  }

  get(key: string): string | null {
    const beside = this.#beside.get(key);
    if (beside !== null) return beside;
    try {
      return this.#storage().getItem(key);
    } catch {
      return null;
    }
  }

  put(key: string, text: string | null): void {
    this.#beside.put(key, null);
    try {
      if (text === null) this.#storage().removeItem(key);
      else this.#storage().setItem(key, text);
    } catch {
      this.#beside.put(key, text);
    }
  }
}
