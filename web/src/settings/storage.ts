// A place that keeps small texts by name. The browser's storage may be full or closed to us (private windows,
// blocked cookies); then things are kept for as long as the page lives, and nobody has to mind.

export interface TextStorage {
  get(key: string): string | null;
  /** Null takes it away. */
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
  /** What the browser would not keep. */
  readonly #beside = new MemoryStorage();

  /** `storage` is asked each time: merely naming `localStorage` throws where it is blocked. */
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
