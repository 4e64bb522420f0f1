// A voice message: recorded until silence or a press, then transcribed and sent. No DOM.
import { voice as words } from "../../language/en/voice/voice";
import { Recorder, type RecorderDependencies } from "./recorder";
import { FRAME_SAMPLES } from "../audio/framer";
import { INPUT_RATE } from "../audio/samples";
import { wavOf } from "../audio/wav";
import { type Transcribe, Transcription } from "./transcription.svelte";

export interface VoiceMessageDependencies extends RecorderDependencies {
  readonly transcribe: Transcribe;
  /** Whether the model accepts audio: then the recording is sent along, and the text may be empty. */
  readonly acceptsAudio: () => boolean;
  /** Sends the message. Returns a sentence if that fails. `recording` is null if the model accepts no audio. */
  readonly send: (text: string, recording: Uint8Array<ArrayBuffer> | null) => Promise<string>;
  readonly onEnd: () => void;
}

/** "failed": the recording is kept and can be sent again. */
export type VoiceMessagePhase = "starting" | "recording" | "sending" | "failed";

/** Milliseconds: the longest message, and the silence that ends it, before and after the first word. */
const MAX_MS = 5 * 60_000;
const NO_SPEECH_MS = 10_000;
const END_SILENCE_MS = 1500;
const FRAME_MS = (1000 * FRAME_SAMPLES) / INPUT_RATE;

export class VoiceMessage {
  readonly #deps: VoiceMessageDependencies;
  readonly #recorder: Recorder;
  #transcription: Transcription;
  #phase = $state<VoiceMessagePhase>("starting");
  #problem = $state("");
  #seconds = $state(0);
  #texts: string[] = [];
  #frames: Int16Array[] = [];
  #finished = false;

  constructor(deps: VoiceMessageDependencies) {
    this.#deps = deps;
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

  /** Why sending failed. */
  get problem(): string {
    return this.#problem;
  }

  /** Duration in whole seconds. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Loudness, 0 to 1. */
  get volume(): number {
    return this.#recorder.volume;
  }

  async begin(): Promise<void> {
    if (await this.#recorder.open(MAX_MS)) this.#phase = "recording";
    else if (!this.#finished) this.#end();
  }

  /** Stops recording, transcribes and sends. */
  finish(): void {
    if (this.#finished || this.#phase !== "recording") return;
    this.#phase = "sending";
    this.#recorder.close();
    void this.#send();
  }

  /** Transcribes and sends the whole recording again. */
  retry(): void {
    if (this.#phase !== "failed") return;
    this.#phase = "sending";
    this.#problem = "";
    this.#texts = [];
    this.#transcription = this.#newTranscription();
    void this.#send();
  }

  /** Discards the message. */
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

  /** Ends the recording on silence. */
  #checkSilence(): void {
    if (this.#phase !== "recording") return;
    const { silence } = this.#transcription;
    if (silence === null && this.#frames.length * FRAME_MS >= NO_SPEECH_MS) {
      this.#deps.reportProblem(words().nothingHeard);
      this.cancel();
    } else if (silence !== null && silence * FRAME_MS >= END_SILENCE_MS) this.finish();
  }

  async #send(): Promise<void> {
    await this.#transcription.finish();
    // A recording too short or soft for the phrase splitter was still intended.
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
