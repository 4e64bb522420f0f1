// What is typed and not yet sent, in each conversation. Outlives a reload.
import type { Shelf } from "../settings/shelf";

const KEY = "duologue.draft";

/** The draft of a conversation is kept under its id, that of a new one under none. */
export function draftKey(what: string, conversation: string | null): string {
  return conversation === null ? what : `${what}.${conversation}`;
}

export class Draft {
  readonly #shelf: Shelf;
  #key = KEY;
  #text = $state("");

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
    this.#text = shelf.get(KEY) ?? "";
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.#shelf.put(this.#key, text === "" ? null : text);
  }

  /** Take up what was being typed in `conversation`; null is a new one. */
  turnTo(conversation: string | null): void {
    this.#key = draftKey(KEY, conversation);
    this.#text = this.#shelf.get(this.#key) ?? "";
  }

  /** The new conversation has a name now: what is typed goes on in it. */
  become(conversation: string): void {
    this.#shelf.put(this.#key, null);
    this.#key = draftKey(KEY, conversation);
    this.text = this.#text;
  }

  forget(conversation: string): void {
    this.#shelf.put(draftKey(KEY, conversation), null);
  }
}
