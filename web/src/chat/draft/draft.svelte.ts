// What is typed and not yet sent, in each conversation. Outlives a reload. What it becomes on the server is
// draft_keeper's.
import type { TextStorage } from "../../settings/storage";

const KEY = "duologue.draft";

/** The draft of a conversation is kept under its id, that of a new one under none. */
export function draftKey(what: string, conversation: string | null): string {
  return conversation === null ? what : `${what}.${conversation}`;
}

/** Hears what becomes of the draft. */
export interface DraftObserver {
  draftChanged(): void;
  /** Another conversation's draft will be here: this is the last look at the old one. */
  beforeSwitch(): void;
  switched(conversation: string | null): void;
  idAssigned(conversation: string): void;
  draftDeleted(conversation: string): void;
  /** Something was put to what is kept of a conversation that is not looked at. */
  draftPrepended(conversation: string | null): void;
  /** Keep what is typed where it outlives this browser; ends when that is done, or cannot be. */
  flush(): Promise<void>;
}

export class Draft {
  readonly #storage: TextStorage;
  #key = KEY;
  #text = $state("");
  observer: DraftObserver | null = null;
  /** Something was typed that no watcher heard of. */
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

  /** Take up what was being typed in `conversation`; null is a new one. */
  switchTo(conversation: string | null): void {
    this.observer?.beforeSwitch();
    this.#key = draftKey(KEY, conversation);
    this.#text = this.#storage.get(this.#key) ?? "";
    this.observer?.switched(conversation);
  }

  /** The new conversation has a name now: what is typed goes on in it. */
  assignId(conversation: string): void {
    this.#storage.put(this.#key, null);
    this.#key = draftKey(KEY, conversation);
    this.#store();
    this.observer?.idAssigned(conversation);
  }

  /** Put `text` before what is typed in a conversation, this one or another. */
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
