// A message that is spoken: recorded while a button is held, or hands-free until one is silent, written down and sent as a
// turn of the chat. Knows no DOM; microphone, server and chat are given to it.
import { voice as words } from "../../language/en/voice";
import { Recorder, type RecorderDependencies } from "./recorder";
import { FRAME_SAMPLES } from "../audio/framer";
import { INPUT_RATE } from "../audio/samples";
import { wavOf } from "../audio/wav";
import { type Transcribe, Transcription } from "./transcription.svelte";

export interface VoiceMessageDependencies extends RecorderDependencies {
  readonly transcribe: Transcribe;
  /** Whether who answers hears: then the sound goes with the text, and may go without. */
  readonly acceptsAudio: () => boolean;
  /** Send it; a sentence is why that could not be done. `recording` where the sound is wanted. */
  readonly send: (text: string, recording: Uint8Array<ArrayBuffer> | null) => Promise<string>;
  readonly onEnd: () => void;
}

/** "failed": it is recorded, and can be tried again. */
export type VoiceMessagePhase = "beginning" | "recording" | "sending" | "failed";

/** Milliseconds: the longest message; silence that ends one that is hands-free, before and after its first word. */
const MAX_MS = 5 * 60_000;
const NO_SPEECH_MS = 10_000;
const END_SILENCE_MS = 1500;
/** Whoever lets go so soon pressed the button, and did not hold it. */
const TAP_MS = 350;
const FRAME_MS = (1000 * FRAME_SAMPLES) / INPUT_RATE;

export class VoiceMessage {
  readonly #deps: VoiceMessageDependencies;
  readonly #recorder: Recorder;
  #transcription: Transcription;
  #phase = $state<VoiceMessagePhase>("beginning");
  #held = $state(true);
  #isDiscarding = $state(false);
  #problem = $state("");
  #seconds = $state(0);
  #texts: string[] = [];
  #frames: Int16Array[] = [];
  #since: number;
  #finished = false;

  /** The button is down. */
  constructor(deps: VoiceMessageDependencies) {
    this.#deps = deps;
    this.#since = deps.clock.now();
    this.#transcription = this.#newTranscription();
    this.#recorder = new Recorder(
      deps,
      (frame) => {
        this.#frames.push(frame.pcm);
        this.#seconds = Math.floor((this.#frames.length * FRAME_MS) / 1000);
        this.#transcription.push(frame);
        this.#checkSilence();
      },
      () => this.finish(),
    );
  }

  get phase(): VoiceMessagePhase {
    return this.#phase;
  }

  /** The button is held: letting go sends it. Else silence does. */
  get held(): boolean {
    return this.#held;
  }

  /** The pointer has gone far from the button: letting go throws it away. */
  get isDiscarding(): boolean {
    return this.#isDiscarding;
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
    return this.#recorder.volume;
  }

  async begin(): Promise<void> {
    if (await this.#recorder.open(MAX_MS)) this.#phase = "recording";
    else if (!this.#finished) this.#end();
  }

  /** The pointer moved away from the button, or back. */
  setDiscarding(isDiscarding: boolean): void {
    if (this.#held && this.#phase !== "sending") this.#isDiscarding = isDiscarding;
  }

  /** The button is let go. A press that was none, or that a browser's question came into, goes on hands-free. */
  release(): void {
    if (!this.#held || this.#finished) return;
    if (this.#isDiscarding) return this.cancel();
    if (this.#phase === "beginning" || this.#deps.clock.now() - this.#since < TAP_MS) return this.goHandsFree();
    this.finish();
  }

  /** Nobody holds the button: silence ends it. */
  goHandsFree(): void {
    this.#held = this.#isDiscarding = false;
  }

  /** That was all: it is written down and sent. */
  finish(): void {
    if (this.#finished || this.#phase !== "recording") return;
    this.#phase = "sending";
    this.goHandsFree();
    this.#recorder.close();
    void this.#send();
  }

  /** Once more, from the whole recording. */
  retry(): void {
    if (this.#phase !== "failed") return;
    this.#phase = "sending";
    this.#problem = "";
    this.#texts = [];
    this.#transcription = this.#newTranscription();
    void this.#send();
  }

  /** Nothing of it is sent. */
  cancel(): void {
    if (!this.#finished) this.#end();
  }

  #newTranscription(): Transcription {
    return new Transcription({
      transcribe: this.#deps.transcribe,
      onText: (text) => this.#texts.push(text),
      onError: (sentence) => (this.#problem = sentence),
      onOverload: () => (this.#problem = words().tooFast),
    });
  }

  /** Silence ends what nobody holds. */
  #checkSilence(): void {
    if (this.#held || this.#phase !== "recording") return;
    const { silence } = this.#transcription;
    if (silence === null && this.#frames.length * FRAME_MS >= NO_SPEECH_MS) {
      this.#deps.reportProblem(words().nothingHeard);
      this.cancel();
    } else if (silence !== null && silence * FRAME_MS >= END_SILENCE_MS) this.finish();
  }

  async #send(): Promise<void> {
    await this.#transcription.finish();
    // What is too short or too soft to be cut into phrases was meant all the same.
    if (this.#texts.length === 0 && this.#problem === "" && this.#frames.length > 0) this.#transcription.add(this.#frames);
    await this.#transcription.finish();
    if (this.#finished) return;
    const text = this.#texts.join(" ");
    const acceptsAudio = this.#deps.acceptsAudio();
    this.#problem ||= text === "" && !acceptsAudio ? words().nothingUnderstood : await this.#deps.send(text, acceptsAudio ? wavOf(this.#frames, INPUT_RATE) : null);
    if (this.#finished) return;
    if (this.#problem === "") this.#end();
    else this.#phase = "failed";
  }

  #end(): void {
    this.#finished = true;
    this.#recorder.close();
    this.#transcription.stop();
    this.#deps.onEnd();
  }
}
