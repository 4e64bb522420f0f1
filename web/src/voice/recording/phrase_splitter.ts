// Cuts speech into phrases at pauses, so that each can be transcribed while the next is spoken. Pure: time is the
// number of frames.
import type { Frame } from "../audio/framer";

/** Frames are 20 ms. */
const PAUSE_FRAMES = 40;
const MIN_SPEECH_FRAMES = 12;
const LEAD_IN_FRAMES = 20;
const MAX_FRAMES = 25 * 50;
/** Speech is this much louder than the background noise, and at least MIN_SPEECH_LEVEL. */
const SPEECH_RATIO = 3;
const MIN_SPEECH_LEVEL = 0.006;
/** Growth of the noise estimate per frame. */
const NOISE_RISE = 1.004;

export class PhraseSplitter {
  #frames: Int16Array[] = [];
  #speechFrames = 0;
  #silentFrames = 0;
  #noiseLevel = MIN_SPEECH_LEVEL;
  #silence: number | null = null;

  /** Frames since the last speech; null before the first. */
  get silence(): number | null {
    return this.#silence;
  }

  /** The phrase completed by this frame, if any. */
  push({ pcm, level }: Frame): Int16Array[] | null {
    this.#frames.push(pcm);
    this.#noiseLevel = level < this.#noiseLevel ? Math.max(MIN_SPEECH_LEVEL / SPEECH_RATIO, level) : this.#noiseLevel * NOISE_RISE;
    const isSpeech = level > Math.max(MIN_SPEECH_LEVEL, this.#noiseLevel * SPEECH_RATIO);
    this.#speechFrames += isSpeech ? 1 : 0;
    this.#silentFrames = isSpeech ? 0 : this.#silentFrames + 1;
    if (isSpeech && (this.#silence !== null || this.#speechFrames >= MIN_SPEECH_FRAMES)) this.#silence = 0;
    else if (this.#silence !== null) this.#silence++;
    if (this.#speechFrames < MIN_SPEECH_FRAMES) {
      // Silence before the first word is discarded, except for a short lead-in.
      if (this.#silentFrames >= LEAD_IN_FRAMES) {
        this.#frames = this.#frames.slice(-LEAD_IN_FRAMES);
        this.#speechFrames = 0;
      }
      return null;
    }
    return this.#silentFrames >= PAUSE_FRAMES || this.#frames.length >= MAX_FRAMES ? this.#take() : null;
  }

  /** The rest; null if it contains no speech. */
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
