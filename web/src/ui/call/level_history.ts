// The loudness of the last seconds as bars that move to the left. Pure.
import { perceivedLoudness } from "./shape";

export interface Bar {
  /** CSS pixels from the left. */
  readonly x: number;
  /** 0 to 1. */
  readonly size: number;
}

/** Milliseconds per bar, and pixels between bars. */
const BAR_MS = 60;
const BAR_PIXELS = 4;
const MAX_BARS = 120;

export class LevelHistory {
  /** Newest last. */
  #sizes: number[] = [];
  #loudest = 0;
  #since: number | null = null;

  add(level: number, now: number): void {
    this.#since ??= now;
    this.#loudest = Math.max(this.#loudest, perceivedLoudness(level));
    while (now - this.#since >= BAR_MS) {
      this.#sizes.push(this.#loudest);
      this.#loudest = perceivedLoudness(level);
      this.#since += BAR_MS;
    }
    if (this.#sizes.length > MAX_BARS) this.#sizes = this.#sizes.slice(-MAX_BARS);
  }

  /** The bars that fit a width, the newest at its right edge. */
  bars(width: number, now: number): Bar[] {
    const fraction = this.#since === null ? 0 : Math.min(1, Math.max(0, (now - this.#since) / BAR_MS));
    return this.#sizes.map((size, at) => ({ x: width - (this.#sizes.length - at + fraction) * BAR_PIXELS, size })).filter(({ x }) => x > -BAR_PIXELS);
  }
}
