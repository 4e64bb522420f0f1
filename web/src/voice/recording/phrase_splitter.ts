// Where a dictated text may be cut: after a pause, so that each part can be written down while the next is said. Pure: time
// is the frames.
import type { Frame } from "../audio/framer";

/** Frames are 20 ms. */
const PAUSE_FRAMES = 40;
const MIN_SPEECH_FRAMES = 12;
const LEAD_IN_FRAMES = 20;
const MAX_FRAMES = 25 * 50;
/** So much louder than the room is speech, and never less than this. */
const SPEECH_RATIO = 3;
const MIN_SPEECH_LEVEL = 0.006;
/** How fast the room is taken to grow louder. */
const NOISE_RISE = 1.004;

export class PhraseSplitter {
  #frames: Int16Array[] = [];
  #speechFrames = 0;
  #silentFrames = 0;
  #noiseLevel = MIN_SPEECH_LEVEL;
  #silence: number | null = null;

  /** Frames since somebody spoke; null before the first word. */
  get silence(): number | null {
    return this.#silence;
  }

  /** The phrase that ended with this frame, if one did. */
  push({ pcm, level }: Frame): Int16Array[] | null {
    this.#frames.push(pcm);
    this.#noiseLevel = level < this.#noiseLevel ? Math.max(MIN_SPEECH_LEVEL / SPEECH_RATIO, level) : this.#noiseLevel * NOISE_RISE;
    const isSpeech = level > Math.max(MIN_SPEECH_LEVEL, this.#noiseLevel * SPEECH_RATIO);
    this.#speechFrames += isSpeech ? 1 : 0;
    this.#silentFrames = isSpeech ? 0 : this.#silentFrames + 1;
    if (isSpeech && (this.#silence !== null || this.#speechFrames >= MIN_SPEECH_FRAMES)) this.#silence = 0;
    else if (this.#silence !== null) this.#silence++;
    if (this.#speechFrames < MIN_SPEECH_FRAMES) {
      // What lies before the first word is of no interest, but for its beginning.
      if (this.#silentFrames >= LEAD_IN_FRAMES) {
        this.#frames = this.#frames.slice(-LEAD_IN_FRAMES);
        this.#speechFrames = 0;
      }
      return null;
    }
    return this.#silentFrames >= PAUSE_FRAMES || this.#frames.length >= MAX_FRAMES ? this.#take() : null;
  }

  /** What was said since; null where nothing was. */
  finish(): Int16Array[] | null {
    return this.#speechFrames < MIN_SPEECH_FRAMES ? null : this.#take();
  }

  #take(): Int16Array[] {
    const phrase = this.#frames;
    this.#frames = [];
    this.#speechFrames = this.#silentFrames = 0;
    return phrase;
  }
}
