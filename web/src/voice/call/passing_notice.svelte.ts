// A sentence that is shown for a while and then goes by itself. Used by `Call`. No DOM.
import type { Clock } from "../../wire/transport/clock";

/** How long a notice is shown, milliseconds. */
export const NOTICE_MS = 8000;

export class PassingNotice {
  #text = $state("");
  readonly #clock: Clock;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Empty while there is none. */
  get text(): string {
    return this.#text;
  }

  /** Shows a sentence in place of the one before. */
  show(sentence: string): void {
    this.#text = sentence;
    this.#cancel?.();
    this.#cancel = this.#clock.after(NOTICE_MS, () => (this.#text = ""));
  }

  clear(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#text = "";
  }
}
