// The microphone for dictation and voice messages: opened once, for a limited time.
import { voice as words } from "../../language/en/voice/voice";
import type { Clock } from "../../wire/transport/clock";
import type { Frame } from "../audio/framer";
import { type Microphone, MicrophoneError, type MicrophoneListener } from "../audio/microphone";

export interface RecorderDependencies {
  readonly microphone: (listener: MicrophoneListener) => Promise<Microphone>;
  readonly clock: Clock;
  readonly reportProblem: (sentence: string) => void;
}

export class Recorder {
  readonly #deps: RecorderDependencies;
  readonly #onFrame: (frame: Frame) => void;
  readonly #onEnd: () => void;
  #microphone: Microphone | null = null;
  #closed = false;
  #volume = 0;
  #cancelTimer: (() => void) | null = null;

  /** `onEnd` is called when the microphone is lost or the time is over. */
  constructor(deps: RecorderDependencies, onFrame: (frame: Frame) => void, onEnd: () => void) {
    this.#deps = deps;
    this.#onFrame = onFrame;
    this.#onEnd = onEnd;
  }

  /** Loudness, 0 to 1. */
  get volume(): number {
    return this.#volume;
  }

  /** Opens the microphone for `maxDuration` milliseconds. False if there is none, which was reported, or if it was
   * closed meanwhile. */
  async open(maxDuration: number): Promise<boolean> {
    try {
      const microphone = await this.#deps.microphone({ onFrame: (frame) => this.#receive(frame), onLost: () => this.#onEnd() });
      if (this.#closed) {
        microphone.stop();
        return false;
      }
      this.#microphone = microphone;
      this.#cancelTimer = this.#deps.clock.after(maxDuration, () => this.#onEnd());
      return true;
    } catch (error) {
      if (!this.#closed) this.#deps.reportProblem(error instanceof MicrophoneError ? words().faults[error.fault] : words().noSound);
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

  #receive(frame: Frame): void {
    if (this.#microphone === null) return;
    this.#volume = frame.level;
    this.#onFrame(frame);
  }
}
