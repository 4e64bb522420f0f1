// What a screen reader is told: beginnings and ends, never single tokens. Owns the sentence in the page's polite
// region.
import type { Clock } from "../wire/clock";

const READ_OUT = 400;

export class Announcer {
  readonly #clock: Clock;
  #sentence = $state("");

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get sentence(): string {
    return this.#sentence;
  }

  say(sentence: string): void {
    // The region is emptied first: the same sentence twice would be no change, and stay unsaid.
    this.#sentence = "";
    this.#clock.frame(() => (this.#sentence = sentence));
  }
}

/** A reply, as it is read out: whole when short, else its beginning and its length. */
export function readOut(speaker: string, text: string): string {
  const plain = text
    .replace(/[*_`#>|~]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
  if (plain.length <= READ_OUT) return `${speaker}: ${plain}`;
  const words = plain.split(" ").length;
  return `${speaker} wrote ${words} words, beginning: ${plain.slice(0, READ_OUT)}…`;
}
