// A message that is spoken: recorded while a button is held, or hands-free until one is silent, written down and sent as a
// turn of the chat. Knows no DOM; microphone, server and chat are given to it.
import { voice as words } from "../../language/en/voice";
import { Ear, type EarMeans } from "./ear";
import { FRAME } from "../audio/framing";
import { HEARD_RATE } from "../audio/samples";
import { wavOf } from "../audio/wav";
import { type Transcribe, Writing } from "./writing.svelte";

export interface UtteranceMeans extends EarMeans {
  readonly transcribe: Transcribe;
  /** Whether who answers hears: then the sound goes with the text, and may go without. */
  readonly hears: () => boolean;
  /** Send it; a sentence is why that could not be done. `recording` where the sound is wanted. */
  readonly send: (text: string, recording: Uint8Array<ArrayBuffer> | null) => Promise<string>;
  readonly ended: () => void;
}

/** "failed": it is recorded, and can be tried again. */
export type UtterancePhase = "beginning" | "recording" | "sending" | "failed";

/** Milliseconds: the longest message; silence that ends one that is hands-free, before and after its first word. */
const LONGEST = 5 * 60_000;
const NOTHING_SAID = 10_000;
const SAID = 1500;
/** Whoever lets go so soon pressed the button, and did not hold it. */
const TAP = 350;
const FRAME_MS = (1000 * FRAME) / HEARD_RATE;

export class Utterance {
  readonly #means: UtteranceMeans;
  readonly #ear: Ear;
  #writing: Writing;
  #phase = $state<UtterancePhase>("beginning");
  #held = $state(true);
  #away = $state(false);
  #problem = $state("");
  #seconds = $state(0);
  #texts: string[] = [];
  #frames: Int16Array[] = [];
  #since: number;
  #over = false;

  /** The button is down. */
  constructor(means: UtteranceMeans) {
    this.#means = means;
    this.#since = means.clock.now();
    this.#writing = this.#newWriting();
    this.#ear = new Ear(
      means,
      (frame) => {
        this.#frames.push(frame.pcm);
        this.#seconds = Math.floor((this.#frames.length * FRAME_MS) / 1000);
        this.#writing.push(frame);
        this.#mind();
      },
      () => this.finish(),
    );
  }

  get phase(): UtterancePhase {
    return this.#phase;
  }

  /** The button is held: letting go sends it. Else silence does. */
  get held(): boolean {
    return this.#held;
  }

  /** The pointer has gone far from the button: letting go throws it away. */
  get away(): boolean {
    return this.#away;
  }

  /** Why it was not sent. */
  get problem(): string {
    return this.#problem;
  }

  /** How long it is, in whole seconds. */
  get seconds(): number {
    return this.#seconds;
  }

  /** How loud it is, 0 to 1. */
  get volume(): number {
    return this.#ear.volume;
  }

  async begin(): Promise<void> {
    if (await this.#ear.open(LONGEST)) this.#phase = "recording";
    else if (!this.#over) this.#end();
  }

  /** The pointer moved away from the button, or back. */
  slide(away: boolean): void {
    if (this.#held && this.#phase !== "sending") this.#away = away;
  }

  /** The button is let go. A press that was none, or that a browser's question came into, goes on hands-free. */
  release(): void {
    if (!this.#held || this.#over) return;
    if (this.#away) return this.cancel();
    if (this.#phase === "beginning" || this.#means.clock.now() - this.#since < TAP) return this.free();
    this.finish();
  }

  /** Nobody holds the button: silence ends it. */
  free(): void {
    this.#held = this.#away = false;
  }

  /** That was all: it is written down and sent. */
  finish(): void {
    if (this.#over || this.#phase !== "recording") return;
    this.#phase = "sending";
    this.free();
    this.#ear.close();
    void this.#send();
  }

  /** Once more, from the whole recording. */
  retry(): void {
    if (this.#phase !== "failed") return;
    this.#phase = "sending";
    this.#problem = "";
    this.#texts = [];
    this.#writing = this.#newWriting();
    void this.#send();
  }

  /** Nothing of it is sent. */
  cancel(): void {
    if (!this.#over) this.#end();
  }

  #newWriting(): Writing {
    return new Writing({
      transcribe: this.#means.transcribe,
      written: (text) => this.#texts.push(text),
      failed: (sentence) => (this.#problem = sentence),
      behind: () => (this.#problem = words().tooFast),
    });
  }

  /** Silence ends what nobody holds. */
  #mind(): void {
    if (this.#held || this.#phase !== "recording") return;
    const { silence } = this.#writing;
    if (silence === null && this.#frames.length * FRAME_MS >= NOTHING_SAID) {
      this.#means.reportProblem(words().nothingHeard);
      this.cancel();
    } else if (silence !== null && silence * FRAME_MS >= SAID) this.finish();
  }

  async #send(): Promise<void> {
    await this.#writing.finish();
    // What is too short or too soft to be cut into phrases was meant all the same.
    if (this.#texts.length === 0 && this.#problem === "" && this.#frames.length > 0) this.#writing.add(this.#frames);
    await this.#writing.finish();
    if (this.#over) return;
    const text = this.#texts.join(" ");
    const hears = this.#means.hears();
    this.#problem ||= text === "" && !hears ? words().nothingUnderstood : await this.#means.send(text, hears ? wavOf(this.#frames, HEARD_RATE) : null);
    if (this.#over) return;
    if (this.#problem === "") this.#end();
    else this.#phase = "failed";
  }

  #end(): void {
    this.#over = true;
    this.#ear.close();
    this.#writing.stop();
    this.#means.ended();
  }
}
