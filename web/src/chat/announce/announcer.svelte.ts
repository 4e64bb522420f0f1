// What a screen reader is told: beginnings, ends and questions; of a reply that is being written whole sentences at
// most, never single tokens. Owns the sentence in the page's polite region.
import { thread as words } from "../../language/en/thread";
import type { Clock } from "../../wire/transport/clock";
import { plainText, Sentences } from "./sentences";

/** What of a reply is read out: its end, its sentences as they come, nothing. */
export type Announced = "ends" | "sentences" | "off";

const READ_OUT = 400;
/** Sentences of a growing reply are read out no faster than this, milliseconds. */
const BATCH = 2000;

export class Announcer {
  readonly #clock: Clock;
  readonly #announced: () => Announced;
  #sentence = $state("");
  #growing: { readonly row: string; readonly sentences: Sentences } | null = null;
  #text: () => string = () => "";
  #cancelTimer: (() => void) | null = null;

  constructor(clock: Clock, announced: () => Announced = () => "ends") {
    this.#clock = clock;
    this.#announced = announced;
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
  tell(sentence: string): void {
    if (this.#announced() !== "off") this.say(sentence);
  }

  /** More of a row is written; `text` gives all of it. Costs nothing until it is time to read out. */
  grows(row: string, text: () => string): void {
    if (this.#announced() !== "sentences") return;
    if (this.#growing?.row !== row) {
      const rest = this.#readRest();
      if (rest) this.say(rest);
      this.#growing = { row, sentences: new Sentences(() => words().codeBlock) };
    }
    this.#text = text;
    this.#cancelTimer ??= this.#clock.after(BATCH, () => {
      this.#cancelTimer = null;
      const said = this.#growing?.sentences.next(this.#text()) ?? "";
      if (said !== "") this.say(said);
    });
  }

  /** A reply has ended: it is read out, as far as it was not. */
  ends(speaker: string, text: string): void {
    const rest = this.#readRest();
    if (rest === null) this.tell(readOut(speaker, text));
    else this.tell(rest === "" ? words().ended(speaker) : rest);
  }

  /** What grew is not on the page any more, or says nothing more. */
  forget(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#growing = null;
  }

  /** What was not read out yet of what grows; null where nothing does. */
  #readRest(): string | null {
    const rest = this.#growing?.sentences.next(this.#text(), true) ?? null;
    this.forget();
    return rest;
  }
}

/** A reply, as it is read out: whole when short, else its beginning and its length. */
export function readOut(speaker: string, text: string): string {
  const plain = plainText(text);
  if (plain.length <= READ_OUT) return `${speaker}: ${plain}`;
  return words().readOut(speaker, plain.split(" ").length, plain.slice(0, READ_OUT));
}
