// What a screen reader is told: beginnings, ends and questions; of a reply that is being written whole sentences at
// most, never single tokens. Owns the sentence in the page's polite region.
import { thread as words } from "../../language/en/thread";
import type { Clock } from "../../wire/transport/clock";
import { plainText, Sentences } from "./sentences";

/** What of a reply is read out: its end, its sentences as they come, nothing. */
export type AnnounceMode = "ends" | "sentences" | "off";

const MAX_READ_OUT = 400;
/** Sentences of a growing reply are read out no faster than this, milliseconds. */
const SENTENCE_INTERVAL_MS = 2000;

export class Announcer {
  readonly #clock: Clock;
  readonly #mode: () => AnnounceMode;
  #sentence = $state("");
  #active: { readonly row: string; readonly sentences: Sentences } | null = null;
  #text: () => string = () => "";
  #cancelTimer: (() => void) | null = null;

  constructor(clock: Clock, mode: () => AnnounceMode = () => "ends") {
    this.#clock = clock;
    this.#mode = mode;
  }

  get sentence(): string {
    return this.#sentence;
  }

  /** Something a person has to know. */
  say(sentence: string): void {
    // The region is emptied first: the same sentence twice would be no change, and stay unsaid.
    this.#sentence = "";
    this.#clock.frame(() => (this.#sentence = sentence));
  }

  /** How a reply goes: unsaid where nobody wants to hear of it. */
  sayProgress(sentence: string): void {
    if (this.#mode() !== "off") this.say(sentence);
  }

  /** More of a row is written; `text` gives all of it. Costs nothing until it is time to read out. */
  update(row: string, text: () => string): void {
    if (this.#mode() !== "sentences") return;
    if (this.#active?.row !== row) {
      const rest = this.#readRest();
      if (rest) this.say(rest);
      this.#active = { row, sentences: new Sentences(() => words().codeBlock) };
    }
    this.#text = text;
    this.#cancelTimer ??= this.#clock.after(SENTENCE_INTERVAL_MS, () => {
      this.#cancelTimer = null;
      const sentences = this.#active?.sentences.next(this.#text()) ?? "";
      if (sentences !== "") this.say(sentences);
    });
  }

  /** A reply has ended: it is read out, as far as it was not. */
  finish(speaker: string, text: string): void {
    const rest = this.#readRest();
    if (rest === null) this.sayProgress(readOut(speaker, text));
    else this.sayProgress(rest === "" ? words().ended(speaker) : rest);
  }

  /** What grew is not on the page any more, or says nothing more. */
  reset(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#active = null;
  }

  /** What was not read out yet of what grows; null where nothing does. */
  #readRest(): string | null {
    const rest = this.#active?.sentences.next(this.#text(), true) ?? null;
    this.reset();
    return rest;
  }
}

/** A reply, as it is read out: whole when short, else its beginning and its length. */
export function readOut(speaker: string, text: string): string {
  const plain = plainText(text);
  if (plain.length <= MAX_READ_OUT) return `${speaker}: ${plain}`;
  return words().readOut(speaker, plain.split(" ").length, plain.slice(0, MAX_READ_OUT));
}
