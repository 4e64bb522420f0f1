// Where a dictated text may be cut: after a pause, so that each part can be written down while the next is said. Pure: time
// is the frames.
import type { Frame } from "../audio/framing";

/** Frames are 20 ms. */
const PAUSE = 40;
const LEAST = 12;
const BEFORE = 20;
const MOST = 25 * 50;
/** So much louder than the room is speech, and never less than this. */
const ABOVE = 3;
const QUIETEST = 0.006;
/** How fast the room is taken to grow louder. */
const RISE = 1.004;

export class Phrases {
  #frames: Int16Array[] = [];
  #spoken = 0;
  #quiet = 0;
  #room = QUIETEST;
  #silence: number | null = null;

  /** Frames since somebody spoke; null before the first word. */
  get silence(): number | null {
    return this.#silence;
  }

  /** The phrase that ended with this frame, if one did. */
  push({ pcm, level }: Frame): Int16Array[] | null {
    this.#frames.push(pcm);
    this.#room = level < this.#room ? Math.max(QUIETEST / ABOVE, level) : this.#room * RISE;
    const speech = level > Math.max(QUIETEST, this.#room * ABOVE);
    this.#spoken += speech ? 1 : 0;
    this.#quiet = speech ? 0 : this.#quiet + 1;
    if (speech && (this.#silence !== null || this.#spoken >= LEAST)) this.#silence = 0;
    else if (this.#silence !== null) this.#silence++;
    if (this.#spoken < LEAST) {
      // What lies before the first word is of no interest, but for its beginning.
      if (this.#quiet >= BEFORE) {
        this.#frames = this.#frames.slice(-BEFORE);
        this.#spoken = 0;
      }
      return null;
    }
    return this.#quiet >= PAUSE || this.#frames.length >= MOST ? this.#take() : null;
  }

  /** What was said since; null where nothing was. */
  finish(): Int16Array[] | null {
    return this.#spoken < LEAST ? null : this.#take();
  }

  #take(): Int16Array[] {
    const phrase = this.#frames;
    this.#frames = [];
    this.#spoken = this.#quiet = 0;
    return phrase;
  }
}
