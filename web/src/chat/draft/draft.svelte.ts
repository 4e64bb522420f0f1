// What is typed and not yet sent, in each conversation. Outlives a reload. What it becomes on the server is
// draft_keeper's.
import type { TextStorage } from "../../settings/shelf";

const KEY = "duologue.draft";

/** The draft of a conversation is kept under its id, that of a new one under none. */
export function draftKey(what: string, conversation: string | null): string {
  return conversation === null ? what : `${what}.${conversation}`;
}

/** Hears what becomes of the draft. */
export interface DraftWatcher {
  changed(): void;
  /** Another conversation's draft will be here: this is the last look at the old one. */
  leaving(): void;
  turned(conversation: string | null): void;
  became(conversation: string): void;
  forgotten(conversation: string): void;
  /** Something was put to what is kept of a conversation that is not looked at. */
  givenBack(conversation: string | null): void;
  /** Keep what is typed where it outlives this browser; ends when that is done, or cannot be. */
  settle(): Promise<void>;
}

export class Draft {
  readonly #storage: TextStorage;
  #key = KEY;
  #text = $state("");
  watcher: DraftWatcher | null = null;
  /** Something was typed that no watcher heard of. */
  unheard = false;

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
    this.#keep();
    if (this.watcher) this.watcher.changed();
    else this.unheard = true;
  }

  /** Take up what was being typed in `conversation`; null is a new one. */
  turnTo(conversation: string | null): void {
    this.watcher?.leaving();
    this.#key = draftKey(KEY, conversation);
    this.#text = this.#storage.get(this.#key) ?? "";
    this.watcher?.turned(conversation);
  }

  /** The new conversation has a name now: what is typed goes on in it. */
  become(conversation: string): void {
    this.#storage.put(this.#key, null);
    this.#key = draftKey(KEY, conversation);
    this.#keep();
    this.watcher?.became(conversation);
  }

  /** Put `text` before what is typed in a conversation, this one or another. */
  giveBack(conversation: string | null, text: string): void {
    const key = draftKey(KEY, conversation);
    const isHere = key === this.#key;
    const typed = isHere ? this.#text : (this.#storage.get(key) ?? "");
    const whole = [text, typed].filter((part) => part !== "").join("\n\n");
    if (isHere) return void (this.text = whole);
    if (whole !== "") this.#storage.put(key, whole);
    this.watcher?.givenBack(conversation);
  }

  forget(conversation: string): void {
    this.#storage.put(draftKey(KEY, conversation), null);
    this.watcher?.forgotten(conversation);
  }

  #keep(): void {
    this.#storage.put(this.#key, this.#text === "" ? null : this.#text);
  }
}
