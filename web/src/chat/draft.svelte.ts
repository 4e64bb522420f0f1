// What is typed and not yet sent. Outlives a reload.
import type { Shelf } from "../settings/shelf";

const KEY = "duologue.draft";

export class Draft {
  readonly #shelf: Shelf;
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
    this.#shelf.put(KEY, text === "" ? null : text);
  }
}
