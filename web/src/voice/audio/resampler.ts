// Sound at another rate: a polyphase low-pass of windowed sincs, fed piece by piece. Any two rates that are whole numbers of
// Hz; where a piece ends changes nothing of what comes out. Pure, and light enough for an audio thread.

/** Crossings of zero the sinc has on either side, at the lower of the two rates: 24 make a step of 10 % of that rate from what
 * passes to what does not. */
const CROSSINGS = 24;
/** The middle of that step, as a share of the lower rate's half: what is folded back lies above what anybody speaks with. */
const CUTOFF = 0.92;
/** Kaiser's shape: about 80 dB down. */
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

/** Of each phase its taps, one phase after another; every phase lets a constant through unchanged. */
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
  /** `up` samples come out for `down` that go in. */
  readonly up: number;
  readonly down: number;
  /** Samples a piece looks ahead: so much later it comes out. */
  readonly half: number;
  readonly #bank: Float32Array;
  #buffer: Float32Array;
  #filled: number;
  /** Where in `kept` the next sample that comes out has its first tap, and between which two it stands. */
  #at = 0;
  #phase = 0;
  #out = new Float32Array(0);

  constructor(from: number, to: number) {
    const common = greatestCommonDivisor(from, to);
    this.up = to / common;
    this.down = from / common;
    this.half = from === to ? 0 : Math.ceil(CROSSINGS * Math.max(1, this.down / this.up));
    this.#bank = from === to ? new Float32Array(0) : filterBank(this.up, this.half, CUTOFF * Math.min(1, this.up / this.down));
    // Silence lies before the first sample.
    this.#filled = Math.max(0, this.half - 1);
    this.#buffer = new Float32Array(4 * this.half + 1024);
  }

  /** What comes out of it now; good until the next call. */
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

  /** The rest: nothing follows. */
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
