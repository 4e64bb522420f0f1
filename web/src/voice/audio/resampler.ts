// A polyphase windowed-sinc resampler for streams, between any two integer rates. The result does not depend on how the
// input is cut into pieces. Pure, and fast enough for an audio thread.

/** Zero crossings of the sinc on each side, at the lower rate: 24 give a transition band of 10 % of that rate. */
const CROSSINGS = 24;
/** Centre of the transition band relative to the lower rate's Nyquist frequency: aliasing lands above speech. */
const CUTOFF = 0.92;
/** Kaiser window parameter, for about 80 dB of attenuation. */
const BETA = 8;

/** The modified Bessel function of order 0. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k++) sum += term *= (x / (2 * k)) ** 2;
  return sum;
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}

/** The taps of all phases in sequence, each phase normalised to unit gain at 0 Hz. */
function filterBank(phases: number, half: number, cutoff: number): Float32Array {
  const bank = new Float32Array(phases * 2 * half);
  for (let phase = 0; phase < phases; phase++) {
    const from = phase * 2 * half;
    let sum = 0;
    for (let tap = 0; tap < 2 * half; tap++) {
      const at = tap - half + 1 - phase / phases;
      const angle = Math.PI * cutoff * at;
      const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
      sum += bank[from + tap] = sinc * bessel(BETA * Math.sqrt(Math.max(0, 1 - (at / half) ** 2)));
    }
    for (let tap = 0; tap < 2 * half; tap++) bank[from + tap]! /= sum;
  }
  return bank;
}

export class Resampler {
  /** The ratio: `up` samples out for `down` samples in. */
  readonly up: number;
  readonly down: number;
  /** Latency in input samples. */
  readonly half: number;
  readonly #bank: Float32Array;
  #buffer: Float32Array;
  #filled: number;
  /** Buffer index of the next output's first tap, and the phase between two input samples. */
  #at = 0;
  #phase = 0;
  #out = new Float32Array(0);

  constructor(from: number, to: number) {
    const common = greatestCommonDivisor(from, to);
    this.up = to / common;
    this.down = from / common;
    this.half = from === to ? 0 : Math.ceil(CROSSINGS * Math.max(1, this.down / this.up));
    this.#bank = from === to ? new Float32Array(0) : filterBank(this.up, this.half, CUTOFF * Math.min(1, this.up / this.down));
    // Start with silence before the first sample.
    this.#filled = Math.max(0, this.half - 1);
    this.#buffer = new Float32Array(4 * this.half + 1024);
  }

  /** The output available now; valid until the next call. */
  push(input: Float32Array): Float32Array {
    if (this.half === 0) return input;
    this.#append(input);
    const { up, down, half } = this;
    const taps = 2 * half;
    const capacity = Math.ceil(((this.#filled - this.#at) * up) / down) + 1;
    if (this.#out.length < capacity) this.#out = new Float32Array(capacity);
    let count = 0;
    while (this.#at + taps <= this.#filled) {
      const from = this.#phase * taps;
      let sum = 0;
      for (let tap = 0; tap < taps; tap++) sum += this.#buffer[this.#at + tap]! * this.#bank[from + tap]!;
      this.#out[count++] = sum;
      this.#phase += down;
      const steps = Math.floor(this.#phase / up);
      this.#at += steps;
      this.#phase -= steps * up;
    }
    return this.#out.subarray(0, count);
  }

  /** The remaining output at the end of the input. */
  finish(): Float32Array {
    return this.push(new Float32Array(this.half));
  }

  #append(input: Float32Array): void {
    if (this.#filled + input.length > this.#buffer.length) {
      const from = Math.min(this.#at, this.#filled);
      const remaining = this.#filled - from;
      const needed = remaining + input.length;
      const next = needed > this.#buffer.length ? new Float32Array(2 * needed) : this.#buffer;
      next.set(this.#buffer.subarray(from, this.#filled));
      this.#buffer = next;
      this.#filled = remaining;
      this.#at -= from;
    }
    this.#buffer.set(input, this.#filled);
    this.#filled += input.length;
  }
}
