// The loudness of the last seconds as a row of bars that moves to the left. Pure: levels and time in, bars out.
import { audible } from "./shape";

export interface Bar {
  /** CSS pixels from the left. */
  readonly x: number;
  /** 0 to 1. */
  readonly size: number;
}

/** Milliseconds a bar stands for, and pixels from one to the next. */
const EACH = 60;
const STEP = 4;
const MOST = 120;

export class Levels {
  /** Newest last. */
  #sizes: number[] = [];
  #loudest = 0;
  #since: number | null = null;

  hear(level: number, now: number): void {
    this.#since ??= now;
    this.#loudest = Math.max(this.#loudest, audible(level));
    while (now - this.#since >= EACH) {
      this.#sizes.push(this.#loudest);
      this.#loudest = audible(level);
      this.#since += EACH;
    }
    if (this.#sizes.length > MOST) this.#sizes = this.#sizes.slice(-MOST);
  }

  /** The bars that fit into a width: the newest at its right edge. */
  bars(width: number, now: number): Bar[] {
    const part = this.#since === null ? 0 : Math.min(1, Math.max(0, (now - this.#since) / EACH));
    return this.#sizes.map((size, at) => ({ x: width - (this.#sizes.length - at + part) * STEP, size })).filter(({ x }) => x > -STEP);
  }
}
