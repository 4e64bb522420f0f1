// Records a sample of a voice, as a WAV file: until a press, or until it is long enough for any speaker. No DOM.
import { FRAME_SAMPLES } from "../audio/framer";
import { INPUT_RATE } from "../audio/samples";
import { wavOf } from "../audio/wav";
import { Recorder, type RecorderDependencies } from "./recorder";

/** Seconds that the server keeps. */
export const MAX_SECONDS = 30;

export interface VoiceSampleDependencies extends RecorderDependencies {
  /** The recording; null where nothing was recorded. */
  readonly onEnd: (recording: Blob | null) => void;
}

export class VoiceSample {
  readonly #deps: VoiceSampleDependencies;
  readonly #recorder: Recorder;
  readonly #frames: Int16Array[] = [];
  #seconds = $state(0);
  #ended = false;

  constructor(deps: VoiceSampleDependencies) {
    this.#deps = deps;
    this.#recorder = new Recorder(
      deps,
      ({ pcm }) => {
        this.#frames.push(pcm);
        const seconds = (this.#frames.length * FRAME_SAMPLES) / INPUT_RATE;
        this.#seconds = Math.floor(seconds);
        if (seconds >= MAX_SECONDS) this.finish();
      },
      () => this.finish(),
    );
  }

  /** Duration in whole seconds. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Loudness, 0 to 1. */
  get volume(): number {
    return this.#recorder.volume;
  }

  async begin(): Promise<void> {
    // The clock is a second net: a microphone may deliver nothing.
    if (!(await this.#recorder.open((MAX_SECONDS + 5) * 1000))) this.finish();
  }

  finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#recorder.close();
    this.#deps.onEnd(this.#frames.length === 0 ? null : new Blob([wavOf(this.#frames, INPUT_RATE)], { type: "audio/wav" }));
  }
}
