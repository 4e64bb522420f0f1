// The unsent text of each conversation, kept in this browser across reloads. draft_sync.ts copies it to the server.
import type { TextStorage } from "../../settings/storage";

const KEY = "duologue.draft";

/** Storage key of a conversation's draft; a new conversation has none. */
export function draftKey(what: string, conversation: string | null): string {
  return conversation === null ? what : `${what}.${conversation}`;
}

/** Follows the draft, for the copy on the server. */
export interface DraftObserver {
  draftChanged(): void;
  /** Another conversation's draft is about to replace this one. */
  beforeSwitch(): void;
  switched(conversation: string | null): void;
  idAssigned(conversation: string): void;
  draftDeleted(conversation: string): void;
  /** Text was put into the draft of a conversation that is not open. */
  draftPrepended(conversation: string | null): void;
  /** Saves the draft outside this browser; resolves when that succeeded or failed. */
  flush(): Promise<void>;
}

export class Draft {
  readonly #storage: TextStorage;
  #key = KEY;
  #text = $state("");
  observer: DraftObserver | null = null;
  /** The text changed before an observer was attached. */
  changedUnobserved = false;

  constructor(storage: TextStorage) {
    this.#storage = storage;
    this.#text = storage.get(KEY) ?? "";
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    if (text === this.#text) return;
    this.#text = text;
    this.#store();
    if (this.observer) this.observer.draftChanged();
    else this.changedUnobserved = true;
  }

  /** Switches to the draft of `conversation`; null is a new one. */
  switchTo(conversation: string | null): void {
    this.observer?.beforeSwitch();
    this.#key = draftKey(KEY, conversation);
    this.#text = this.#storage.get(this.#key) ?? "";
    this.observer?.switched(conversation);
  }

  /** The new conversation got an id: its draft moves there. */
  assignId(conversation: string): void {
    this.#storage.put(this.#key, null);
    this.#key = draftKey(KEY, conversation);
    this.#store();
    this.observer?.idAssigned(conversation);
  }

  /** Puts `text` before the draft of a conversation, open or not. */
  prepend(conversation: string | null, text: string): void {
    const key = draftKey(KEY, conversation);
    const isHere = key === this.#key;
    const current = isHere ? this.#text : (this.#storage.get(key) ?? "");
    const joined = [text, current].filter((part) => part !== "").join("\n\n");
    if (isHere) return void (this.text = joined);
    if (joined !== "") this.#storage.put(key, joined);
    this.observer?.draftPrepended(conversation);
  }

  delete(conversation: string): void {
    this.#storage.put(draftKey(KEY, conversation), null);
    this.observer?.draftDeleted(conversation);
  }

  #store(): void {
    this.#storage.put(this.#key, this.#text === "" ? null : this.#text);
  }
}
