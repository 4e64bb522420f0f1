// Converts microphone audio to the server's format: 16 kHz, 16-bit, frames of 20 ms. Pure; runs in the audio thread.
import { Resampler } from "./resampler";
import { INPUT_RATE, loudness, toInt16 } from "./samples";

export const FRAME_SAMPLES = INPUT_RATE / 50;

export interface Frame {
  readonly pcm: Int16Array<ArrayBuffer>;
  /** 0 to 1. */
  readonly level: number;
}

export class Framer {
  readonly #resampler: Resampler;
  #frame = new Float32Array(FRAME_SAMPLES);
  #filled = 0;
  /** While muted, silence is sent: the server measures time by the audio it receives. */
  muted = false;

  /** `rate` is the microphone's sample rate. */
  constructor(rate: number) {
    this.#resampler = new Resampler(rate, INPUT_RATE);
  }

  push(channels: readonly Float32Array[], length: number): Frame[] {
    const frames: Frame[] = [];
    const samples = this.#resampler.push(mixToMono(channels, length));
    for (let at = 0; at < samples.length; ) {
      const count = Math.min(samples.length - at, FRAME_SAMPLES - this.#filled);
      this.#frame.set(samples.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled < FRAME_SAMPLES) break;
      this.#filled = 0;
      if (this.muted) this.#frame.fill(0);
      frames.push({ pcm: toInt16(this.#frame), level: loudness(this.#frame) });
    }
    return frames;
  }
}

/** Mixes to one channel. A microphone without input yields silence. */
function mixToMono(channels: readonly Float32Array[], length: number): Float32Array {
  const [first, ...others] = channels;
  if (first === undefined) return new Float32Array(length);
  if (others.length === 0) return first;
  return first.map((value, at) => others.reduce((sum, other) => sum + other[at]!, value) / channels.length);
}
