// Speech written down while it is spoken: cut where it pauses, each phrase asked for at once, and given in its turn. Knows
// neither where the sound is from nor where the text goes.
import { type Answer, problemOf } from "../../wire/transport/http";
import type { Frame } from "../audio/framer";
import { PhraseSplitter } from "./phrase_splitter";
import { INPUT_RATE } from "../audio/samples";
import { wavOf } from "../audio/wav";

export type Transcribe = (wav: Uint8Array<ArrayBuffer>, signal: AbortSignal) => Promise<Answer<{ readonly text: string }>>;

export interface TranscriptionListener {
  readonly transcribe: Transcribe;
  /** A phrase, never empty. */
  readonly onText: (text: string) => void;
  readonly onError: (sentence: string) => void;
  /** A phrase was left out: too many wait. */
  readonly onOverload: () => void;
}

/** Phrases that may wait to be written down. */
const MAX_PENDING = 8;

export class Transcription {
  readonly #listener: TranscriptionListener;
  readonly #phrases = new PhraseSplitter();
  readonly #abort = new AbortController();
  #pending = $state(0);
  #last: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(listener: TranscriptionListener) {
    this.#listener = listener;
  }

  /** Phrases that are being written down. */
  get pending(): number {
    return this.#pending;
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
    this.#abort.abort();
  }

  #send(phrase: readonly Int16Array[] | null): void {
    if (phrase === null || this.#stopped) return;
    if (this.#pending >= MAX_PENDING) return this.#listener.onOverload();
    this.#pending++;
    // Asked for at once, written in its turn.
    const request = this.#listener.transcribe(wavOf(phrase, INPUT_RATE), this.#abort.signal);
    const before = this.#last;
    this.#last = (async () => {
      const answer = await request;
      await before;
      this.#pending--;
      if (this.#stopped) return;
      if (answer.kind !== "ok") return this.#listener.onError(problemOf(answer));
      const text = answer.value.text.trim();
      if (text !== "") this.#listener.onText(text);
    })();
  }
}
