// Recording sound to attach: music, a lecture, a voice. Unlike a voice message it is listened to before it is sent, does not end
// when it is quiet, and needs no transcription. No DOM.
import { FRAME_SAMPLES } from "../voice/audio/framer";
import { INPUT_RATE } from "../voice/audio/samples";
import { wavOf } from "../voice/audio/wav";
import { Recorder, type RecorderDependencies } from "../voice/recording/recorder";

export type SoundPhase = "idle" | "opening" | "recording" | "taken";

export interface SoundDependencies extends Omit<RecorderDependencies, "reportProblem"> {
  /** Seconds a recording may have. */
  readonly longest: number;
}

export class SoundCapture {
  readonly #deps: SoundDependencies;
  #recorder: Recorder | null = null;
  #frames: Int16Array[] = [];
  #phase = $state<SoundPhase>("idle");
  #problem = $state("");
  #seconds = $state(0);
  #taken = $state.raw<Blob | null>(null);

  constructor(deps: SoundDependencies) {
    this.#deps = deps;
  }

  get phase(): SoundPhase {
    return this.#phase;
  }

  /** Why the microphone did not open. */
  get problem(): string {
    return this.#problem;
  }

  /** Whole seconds recorded so far. */
  get seconds(): number {
    return this.#seconds;
  }

  get longest(): number {
    return this.#deps.longest;
  }

  get taken(): Blob | null {
    return this.#taken;
  }

  /** Loudness, 0 to 1. */
  get volume(): number {
    return this.#recorder?.volume ?? 0;
  }

  /** Starts, or ends what runs. */
  async press(): Promise<void> {
    if (this.#phase === "recording") return this.#finish();
    if (this.#phase === "opening") return;
    this.#taken = null;
    this.#frames = [];
    this.#seconds = 0;
    this.#problem = "";
    this.#phase = "opening";
    const recorder = new Recorder(
      { ...this.#deps, reportProblem: (sentence) => (this.#problem = sentence) },
      ({ pcm }) => {
        this.#frames.push(pcm);
        this.#seconds = Math.min(this.#deps.longest, Math.floor((this.#frames.length * FRAME_SAMPLES) / INPUT_RATE));
      },
      () => this.#finish(),
    );
    this.#recorder = recorder;
    const opened = await recorder.open(1000 * this.#deps.longest);
    if (recorder !== this.#recorder) return recorder.close();
    this.#phase = opened ? "recording" : "idle";
  }

  /** Throws the recording away, to begin again. */
  discard(): void {
    this.#recorder?.close();
    this.#recorder = null;
    this.#frames = [];
    this.#seconds = 0;
    this.#taken = null;
    this.#phase = "idle";
  }

  #finish(): void {
    if (this.#phase !== "recording") return;
    this.#recorder?.close();
    this.#recorder = null;
    this.#taken = new Blob([wavOf(this.#frames, INPUT_RATE)], { type: "audio/wav" });
    this.#frames = [];
    this.#phase = "taken";
  }
}
