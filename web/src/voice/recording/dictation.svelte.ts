// Dictation into the composer: speech is transcribed phrase by phrase and inserted at the caret. No DOM.
import { voice as words } from "../../language/en/voice/voice";
import { Recorder, type RecorderDependencies } from "./recorder";
import { type Transcribe, Transcription } from "./transcription.svelte";

export interface DictationDependencies extends RecorderDependencies {
  readonly transcribe: Transcribe;
  readonly insert: (text: string) => void;
  readonly onEnd: () => void;
}

/** Longest dictation, in case the user forgets that the microphone is on. */
const MAX_MS = 10 * 60_000;

export class Dictation {
  readonly #deps: DictationDependencies;
  readonly #recorder: Recorder;
  readonly #transcription: Transcription;
  #phase = $state<"starting" | "recording" | "finishing">("starting");
  #finished = false;
  /** Text was inserted, or a problem was reported. */
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

  get phase(): "starting" | "recording" | "finishing" {
    return this.#phase;
  }

  /** Phrases being transcribed. */
  get pending(): number {
    return this.#transcription.pending;
  }

  /** Loudness, 0 to 1. */
  get volume(): number {
    return this.#recorder.volume;
  }

  async begin(): Promise<void> {
    if (await this.#recorder.open(MAX_MS)) this.#phase = "recording";
    else if (!this.#finished) this.#end();
  }

  /** Stops recording; the rest is still transcribed. */
  finish(): void {
    if (this.#finished || this.#phase === "finishing") return;
    if (this.#phase === "starting") return this.cancel();
    this.#phase = "finishing";
    this.#recorder.close();
    void this.#transcription.finish().then(() => {
      if (this.#finished) return;
      if (!this.#reported) this.#deps.reportProblem(words().nothingUnderstood);
      this.#end();
    });
  }

  /** Discards what is not inserted yet. */
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
