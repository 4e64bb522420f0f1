// What a screen reader announces: starts, ends and approvals, and of a running reply whole sentences at most, never
// single tokens. Owns the text of the page's polite live region.
import { thread as words } from "../../language/en/chat/thread";
import type { Clock } from "../../wire/transport/clock";
import { plainText, Sentences } from "./sentences";

/** How a reply is announced: at its end, sentence by sentence, or not at all. */
export type AnnounceMode = "ends" | "sentences" | "off";

const MAX_READ_OUT = 400;
/** Minimum interval between announcements of a running reply, milliseconds. */
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

  /** Announces something the user has to know. */
  say(sentence: string): void {
    // Clear the region first: screen readers ignore a repeated text, because the region does not change.
    this.#sentence = "";
    this.#clock.frame(() => (this.#sentence = sentence));
  }

  /** Announces the progress of a reply, unless that is switched off. */
  sayProgress(sentence: string): void {
    if (this.#mode() !== "off") this.say(sentence);
  }

  /** A row has grown; `text` returns all of it and is only called when it is time to announce. */
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

  /** A reply has ended: announces what was not announced yet. */
  finish(speaker: string, text: string): void {
    const rest = this.#readRest();
    if (rest === null) this.sayProgress(readOut(speaker, text));
    else this.sayProgress(rest === "" ? words().ended(speaker) : rest);
  }

  /** Forgets the running reply: it has left the page or is complete. */
  reset(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#active = null;
  }

  /** The part of the running reply that was not announced; null if there is none. */
  #readRest(): string | null {
    const rest = this.#active?.sentences.next(this.#text(), true) ?? null;
    this.reset();
    return rest;
  }
}

/** The announcement of a complete reply: all of a short one, else its beginning and length. */
export function readOut(speaker: string, text: string): string {
  const plain = plainText(text);
  if (plain.length <= MAX_READ_OUT) return `${speaker}: ${plain}`;
  return words().readOut(speaker, plain.split(" ").length, plain.slice(0, MAX_READ_OUT));
}
