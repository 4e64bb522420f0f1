// Dictating into the composer: what is said is sent phrase by phrase and written where the caret is, in its order. Knows no
// DOM; microphone and server are given to it.
import { voice as words } from "../language/en/voice";
import type { Clock } from "../wire/clock";
import { type Answer, problemOf } from "../wire/http";
import type { Frame } from "./framing";
import { type Microphone, type MicrophoneListener, NoMicrophone } from "./microphone";
import { Phrases } from "./phrases";
import { HEARD_RATE } from "./samples";
import { wavOf } from "./wav";

export interface DictationMeans {
  readonly microphone: (listener: MicrophoneListener) => Promise<Microphone>;
  readonly transcribe: (wav: Uint8Array<ArrayBuffer>, signal: AbortSignal) => Promise<Answer<{ readonly text: string }>>;
  readonly insert: (text: string) => void;
  readonly clock: Clock;
  readonly complain: (sentence: string) => void;
  readonly ended: () => void;
}

/** A phrase may be written down while so many wait. */
const MOST_WAITING = 8;
/** Milliseconds; whoever forgot that the microphone is on is not listened to for ever. */
const LONGEST = 10 * 60_000;

export class Dictation {
  readonly #means: DictationMeans;
  readonly #phrases = new Phrases();
  readonly #calls = new AbortController();
  #phase = $state<"beginning" | "recording" | "finishing">("beginning");
  #waiting = $state(0);
  #volume = 0;
  #microphone: Microphone | null = null;
  #last: Promise<void> = Promise.resolve();
  #over = false;
  #written = false;
  #callOff: (() => void) | null = null;

  constructor(means: DictationMeans) {
    this.#means = means;
  }

  get phase(): "beginning" | "recording" | "finishing" {
    return this.#phase;
  }

  /** Phrases that are being written down. */
  get waiting(): number {
    return this.#waiting;
  }

  /** How loud it is, 0 to 1. */
  get volume(): number {
    return this.#volume;
  }

  async begin(): Promise<void> {
    try {
      const microphone = await this.#means.microphone({ heard: (frame) => this.#heard(frame), lost: () => this.finish() });
      if (this.#over) return microphone.stop();
      this.#microphone = microphone;
      this.#phase = "recording";
      this.#callOff = this.#means.clock.after(LONGEST, () => this.finish());
    } catch (error) {
      if (this.#over) return;
      this.#means.complain(error instanceof NoMicrophone ? words().faults[error.fault] : words().noSound);
      this.#end();
    }
  }

  /** That was all: the rest is still written. */
  finish(): void {
    if (this.#over || this.#phase === "finishing") return;
    if (this.#phase === "beginning") return this.cancel();
    this.#phase = "finishing";
    this.#silence();
    this.#send(this.#phrases.finish());
    void this.#last.then(() => {
      if (this.#over) return;
      if (!this.#written) this.#means.complain(words().nothingUnderstood);
      this.#end();
    });
  }

  /** Nothing more of it is written. */
  cancel(): void {
    if (this.#over) return;
    this.#calls.abort();
    this.#end();
  }

  #heard(frame: Frame): void {
    if (this.#phase !== "recording") return;
    this.#volume = frame.level;
    this.#send(this.#phrases.push(frame));
  }

  #send(phrase: Int16Array[] | null): void {
    if (phrase === null) return;
    if (this.#waiting >= MOST_WAITING) return this.#means.complain(words().tooFast);
    this.#waiting++;
    const wav = wavOf(phrase, HEARD_RATE);
    // Asked for at once, written in its turn.
    const asked = this.#means.transcribe(wav, this.#calls.signal);
    const before = this.#last;
    this.#last = (async () => {
      const answer = await asked;
      await before;
      this.#waiting--;
      if (this.#over) return;
      if (answer.kind !== "ok") {
        this.#written = true;
        this.#means.complain(problemOf(answer));
        this.finish();
        return;
      }
      const text = answer.value.text.trim();
      if (text === "") return;
      this.#written = true;
      this.#means.insert(text);
    })();
  }

  #silence(): void {
    this.#callOff?.();
    this.#microphone?.stop();
    this.#microphone = null;
    this.#volume = 0;
  }

  #end(): void {
    this.#over = true;
    this.#silence();
    this.#means.ended();
  }
}
