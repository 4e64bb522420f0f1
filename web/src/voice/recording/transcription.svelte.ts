// Transcribes speech while it is recorded: phrases are requested as soon as they end, and their texts are delivered in
// order.
import { type Answer, problemOf } from "../../wire/transport/http";
import type { Frame } from "../audio/framer";
import { PhraseSplitter } from "./phrase_splitter";
import { INPUT_RATE } from "../audio/samples";
import { wavOf } from "../audio/wav";

export type Transcribe = (wav: Uint8Array<ArrayBuffer>, signal: AbortSignal) => Promise<Answer<{ readonly text: string }>>;

export interface TranscriptionListener {
  readonly transcribe: Transcribe;
  /** The text of a phrase, never empty. */
  readonly onText: (text: string) => void;
  readonly onError: (sentence: string) => void;
  /** A phrase was skipped because too many are pending. */
  readonly onOverload: () => void;
}

/** Most phrases being transcribed at a time. */
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

  /** Phrases being transcribed. */
  get pending(): number {
    return this.#pending;
  }

  /** Frames since the last speech; null before the first. */
  get silence(): number | null {
    return this.#phrases.silence;
  }

  push(frame: Frame): void {
    this.#send(this.#phrases.push(frame));
  }

  /** Transcribes these frames as one phrase. */
  add(frames: readonly Int16Array[]): void {
    this.#send(frames);
  }

  /** Transcribes the rest; resolves when all texts were delivered. */
  finish(): Promise<void> {
    this.#send(this.#phrases.finish());
    return this.#last;
  }

  /** Delivers nothing more. */
  stop(): void {
    this.#stopped = true;
    this.#abort.abort();
  }

  #send(phrase: readonly Int16Array[] | null): void {
    if (phrase === null || this.#stopped) return;
    if (this.#pending >= MAX_PENDING) return this.#listener.onOverload();
    this.#pending++;
    // Requested at once, delivered in order.
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
