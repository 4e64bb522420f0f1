// Dictating into the composer: what is said is written phrase by phrase where the caret is. Knows no DOM; microphone and
// server are given to it.
import { voice as words } from "../../language/en/voice";
import { Recorder, type RecorderDependencies } from "./recorder";
import { type Transcribe, Transcription } from "./transcription.svelte";

export interface DictationDependencies extends RecorderDependencies {
  readonly transcribe: Transcribe;
  readonly insert: (text: string) => void;
  readonly onEnd: () => void;
}

/** Milliseconds; whoever forgot that the microphone is on is not listened to for ever. */
const MAX_MS = 10 * 60_000;

export class Dictation {
  readonly #deps: DictationDependencies;
  readonly #recorder: Recorder;
  readonly #transcription: Transcription;
  #phase = $state<"beginning" | "recording" | "finishing">("beginning");
  #finished = false;
  /** Something was written, or it was said why not. */
  #reported = false;

  constructor(deps: DictationDependencies) {
    this.#deps = deps;
    this.#recorder = new Recorder(
      deps,
      (frame) => this.#transcription.push(frame),
      () => this.finish(),
    );
    this.#transcription = new Transcription({
      transcribe: deps.transcribe,
      onText: (text) => this.#insert(text),
      onError: (sentence) => this.#fail(sentence),
      onOverload: () => deps.reportProblem(words().tooFast),
    });
  }

  get phase(): "beginning" | "recording" | "finishing" {
    return this.#phase;
  }

  /** Phrases that are being written down. */
  get pending(): number {
    return this.#transcription.pending;
  }

  /** How loud it is, 0 to 1. */
  get volume(): number {
    return this.#recorder.volume;
  }

  async begin(): Promise<void> {
    if (await this.#recorder.open(MAX_MS)) this.#phase = "recording";
    else if (!this.#finished) this.#end();
  }

  /** That was all: the rest is still written. */
  finish(): void {
    if (this.#finished || this.#phase === "finishing") return;
    if (this.#phase === "beginning") return this.cancel();
    this.#phase = "finishing";
    this.#recorder.close();
    void this.#transcription.finish().then(() => {
      if (this.#finished) return;
      if (!this.#reported) this.#deps.reportProblem(words().nothingUnderstood);
      this.#end();
    });
  }

  /** Nothing more of it is written. */
  cancel(): void {
    if (!this.#finished) this.#end();
  }

  #insert(text: string): void {
    this.#reported = true;
    this.#deps.insert(text);
  }

  #fail(sentence: string): void {
    this.#reported = true;
    this.#deps.reportProblem(sentence);
    this.finish();
  }

  #end(): void {
    this.#finished = true;
    this.#recorder.close();
    this.#transcription.stop();
    this.#deps.onEnd();
  }
}
