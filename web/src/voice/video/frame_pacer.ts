// When a frame of the camera or the screen is taken, and when it is sent. Frames wait for the network, audio never waits
// for frames: at most one frame is unsent, and a newer one replaces it. Pure: times are milliseconds of any origin.

/** Frames a second that the user may choose from. */
export const RATES = [1, 2, 4] as const;

export type FrameRate = (typeof RATES)[number];

/** Bytes of the socket's buffer up to which no earlier frame can be in it: a quarter of a second of audio. */
export const CLEAR_BYTES = 8_000;

/** What is to be done now. */
export interface PacerStep<Frame> {
  /** Take a frame, and `add` it or tell of the failure with `missed`. */
  readonly take: boolean;
  /** Send this frame. */
  readonly send: Frame | null;
}

export class FramePacer<Frame> {
  #rate: FrameRate;
  /** When the next frame is taken; null while the camera is off. */
  #due: number | null = null;
  #taking = false;
  #unsent: Frame | null = null;
  /** When the last frame was sent, until the network has taken it. */
  #sentAt: number | null = null;
  /** No frame is sent before. */
  #restsUntil = 0;
  #skipped = 0;

  constructor(rate: FrameRate) {
    this.#rate = rate;
  }

  get rate(): FrameRate {
    return this.#rate;
  }

  /** Frames that were replaced by newer ones before the network could take them. */
  get skipped(): number {
    return this.#skipped;
  }

  /** The first frame is due at once. */
  start(at: number): void {
    this.stop();
    this.#due = at;
  }

  stop(): void {
    this.#due = null;
    this.#taking = false;
    this.#unsent = null;
  }

  /** The connection was lost, and with it what it had not sent. */
  forget(): void {
    this.#unsent = null;
    this.#sentAt = null;
    this.#restsUntil = 0;
  }

  /** The next frame comes no later than the new rate wants it. */
  setRate(rate: FrameRate, at: number): void {
    this.#rate = rate;
    if (this.#due !== null) this.#due = Math.min(this.#due, at + 1000 / rate);
  }

  /** Ask several times for each frame. `buffered`: bytes that the network has not taken yet. */
  next(at: number, buffered: number): PacerStep<Frame> {
    return { take: this.#takes(at), send: this.#sends(at, buffered) };
  }

  /** A frame was taken. One that was asked for before the last stop is ignored. */
  add(frame: Frame): void {
    if (!this.#taking) return;
    this.#taking = false;
    if (this.#unsent !== null) this.#skipped++;
    this.#unsent = frame;
  }

  /** There was no frame to take this time. */
  missed(): void {
    this.#taking = false;
  }

  #takes(at: number): boolean {
    if (this.#due === null || at < this.#due || this.#taking) return false;
    const period = 1000 / this.#rate;
    // In step with the rate, unless more than a whole frame was missed: those are not made up for.
    this.#due = at - this.#due < period ? this.#due + period : at + period;
    this.#taking = true;
    return true;
  }

  #sends(at: number, buffered: number): Frame | null {
    if (buffered > CLEAR_BYTES) return null;
    if (this.#sentAt !== null) {
      // Frames get half of a slow line: what one took is left to the audio after it.
      this.#restsUntil = at + (at - this.#sentAt);
      this.#sentAt = null;
    }
    if (this.#unsent === null || at < this.#restsUntil) return null;
    const frame = this.#unsent;
    this.#unsent = null;
    this.#sentAt = at;
    return frame;
  }
}
