// Dictating into the composer: what is said is written phrase by phrase where the caret is. Knows no DOM; microphone and
// server are given to it.
import { voice as words } from "../../language/en/voice";
import { Ear, type EarMeans } from "./ear";
import { type Transcribe, Writing } from "./writing.svelte";

export interface DictationMeans extends EarMeans {
  readonly transcribe: Transcribe;
  readonly insert: (text: string) => void;
  readonly ended: () => void;
}

/** Milliseconds; whoever forgot that the microphone is on is not listened to for ever. */
const LONGEST = 10 * 60_000;

export class Dictation {
  readonly #means: DictationMeans;
  readonly #ear: Ear;
  readonly #writing: Writing;
  #phase = $state<"beginning" | "recording" | "finishing">("beginning");
  #over = false;
  /** Something was written, or it was said why not. */
  #told = false;

  constructor(means: DictationMeans) {
    this.#means = means;
    this.#ear = new Ear(
      means,
      (frame) => this.#writing.push(frame),
      () => this.finish(),
    );
    this.#writing = new Writing({
      transcribe: means.transcribe,
      written: (text) => this.#write(text),
      failed: (sentence) => this.#fail(sentence),
      behind: () => means.reportProblem(words().tooFast),
    });
  }

  get phase(): "beginning" | "recording" | "finishing" {
    return this.#phase;
  }

  /** Phrases that are being written down. */
  get waiting(): number {
    return this.#writing.waiting;
  }

  /** How loud it is, 0 to 1. */
  get volume(): number {
    return this.#ear.volume;
  }

  async begin(): Promise<void> {
    if (await this.#ear.open(LONGEST)) this.#phase = "recording";
    else if (!this.#over) this.#end();
  }

  /** That was all: the rest is still written. */
  finish(): void {
    if (this.#over || this.#phase === "finishing") return;
    if (this.#phase === "beginning") return this.cancel();
    this.#phase = "finishing";
    this.#ear.close();
    void this.#writing.finish().then(() => {
      if (this.#over) return;
      if (!this.#told) this.#means.reportProblem(words().nothingUnderstood);
      this.#end();
    });
  }

  /** Nothing more of it is written. */
  cancel(): void {
    if (!this.#over) this.#end();
  }

  #write(text: string): void {
    this.#told = true;
    this.#means.insert(text);
  }

  #fail(sentence: string): void {
    this.#told = true;
    this.#means.reportProblem(sentence);
    this.finish();
  }

  #end(): void {
    this.#over = true;
    this.#ear.close();
    this.#writing.stop();
    this.#means.ended();
  }
}
