// The microphone while something is said to the composer: opened once, for so long at most, and let go of. Knows nothing of
// what is made of the sound.
import { voice as words } from "../../language/en/voice";
import type { Clock } from "../../wire/transport/clock";
import type { Frame } from "../audio/framing";
import { type Microphone, type MicrophoneListener, NoMicrophone } from "../audio/microphone";

export interface EarMeans {
  readonly microphone: (listener: MicrophoneListener) => Promise<Microphone>;
  readonly clock: Clock;
  readonly reportProblem: (sentence: string) => void;
}

export class Ear {
  readonly #means: EarMeans;
  readonly #heard: (frame: Frame) => void;
  readonly #ended: () => void;
  #microphone: Microphone | null = null;
  #closed = false;
  #volume = 0;
  #cancelTimer: (() => void) | null = null;

  /** `ended` when the microphone is gone, or was open for as long as it may be. */
  constructor(means: EarMeans, heard: (frame: Frame) => void, ended: () => void) {
    this.#means = means;
    this.#heard = heard;
    this.#ended = ended;
  }

  /** How loud it is, 0 to 1. */
  get volume(): number {
    return this.#volume;
  }

  /** Ask for the microphone, for `longest` milliseconds. False where there is none, which was said, or no need any more. */
  async open(longest: number): Promise<boolean> {
    try {
      const microphone = await this.#means.microphone({ heard: (frame) => this.#hear(frame), lost: () => this.#ended() });
      if (this.#closed) {
        microphone.stop();
        return false;
      }
      this.#microphone = microphone;
      this.#cancelTimer = this.#means.clock.after(longest, () => this.#ended());
      return true;
    } catch (error) {
      if (!this.#closed) this.#means.reportProblem(error instanceof NoMicrophone ? words().faults[error.fault] : words().noSound);
      return false;
    }
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#microphone?.stop();
    this.#microphone = null;
    this.#volume = 0;
  }

  #hear(frame: Frame): void {
    if (this.#microphone === null) return;
    this.#volume = frame.level;
    this.#heard(frame);
  }
}
