// Speech written down while it is spoken: cut where it pauses, each phrase asked for at once, and given in its turn. Knows
// neither where the sound is from nor where the text goes.
import { type Answer, problemOf } from "../../wire/transport/http";
import type { Frame } from "../audio/framing";
import { Phrases } from "./phrases";
import { HEARD_RATE } from "../audio/samples";
import { wavOf } from "../audio/wav";

export type Transcribe = (wav: Uint8Array<ArrayBuffer>, signal: AbortSignal) => Promise<Answer<{ readonly text: string }>>;

export interface Writer {
  readonly transcribe: Transcribe;
  /** A phrase, never empty. */
  readonly written: (text: string) => void;
  readonly failed: (sentence: string) => void;
  /** A phrase was left out: too many wait. */
  readonly behind: () => void;
}

/** Phrases that may wait to be written down. */
const MOST_WAITING = 8;

export class Writing {
  readonly #writer: Writer;
  readonly #phrases = new Phrases();
  readonly #calls = new AbortController();
  #waiting = $state(0);
  #last: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Phrases that are being written down. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Frames since somebody spoke; null before the first word. */
  get silence(): number | null {
    return this.#phrases.silence;
  }

  push(frame: Frame): void {
    this.#send(this.#phrases.push(frame));
  }

  /** All of these as one phrase more. */
  add(frames: readonly Int16Array[]): void {
    this.#send(frames);
  }

  /** That was all; the answer comes when it is written. */
  finish(): Promise<void> {
    this.#send(this.#phrases.finish());
    return this.#last;
  }

  /** Nothing more is written. */
  stop(): void {
    this.#stopped = true;
    this.#calls.abort();
  }

  #send(phrase: readonly Int16Array[] | null): void {
    if (phrase === null || this.#stopped) return;
    if (this.#waiting >= MOST_WAITING) return this.#writer.behind();
    this.#waiting++;
    // Asked for at once, written in its turn.
    const asked = this.#writer.transcribe(wavOf(phrase, HEARD_RATE), this.#calls.signal);
    const before = this.#last;
    this.#last = (async () => {
      const answer = await asked;
      await before;
      this.#waiting--;
      if (this.#stopped) return;
      if (answer.kind !== "ok") return this.#writer.failed(problemOf(answer));
      const text = answer.value.text.trim();
      if (text !== "") this.#writer.written(text);
    })();
  }
}
