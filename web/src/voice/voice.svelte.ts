// Entry point for speech: whether a call, a dictation, a voice message or reading aloud is active, and how each starts.
// Everything else is loaded on first use. Only the AudioContext is created at once, because browsers allow that only
// during a user gesture.
import type { Call } from "./call/call.svelte";
import { openAudioContext } from "./audio/audio_context";
import type { Mouth } from "./face/mouth";
import type { Dictation } from "./recording/dictation.svelte";
import type { ReadAloud } from "./read_aloud.svelte";
import type { VoiceMessage } from "./recording/voice_message.svelte";
import type { VoiceDependencies } from "./factory";
import type { VideoSource } from "./video/call_video.svelte";
import type { CallKind } from "./call_modes";

const KIND_KEY = "duologue.call_kind";

export class Voice {
  readonly #deps: () => VoiceDependencies;
  #call = $state.raw<Call | null>(null);
  #dictation = $state.raw<Dictation | null>(null);
  #message = $state.raw<VoiceMessage | null>(null);
  #reading = $state.raw<ReadAloud | null>(null);
  #busy = false;
  #preparedSound: AudioContext | null = null;
  #onReady: (reading: ReadAloud) => void = () => {};
  #lastKind = $state<string | null>(null);
  /** The call is shown as a bar above the composer. */
  callMinimised = $state(false);

  constructor(deps: () => VoiceDependencies) {
    this.#deps = deps;
  }

  get call(): Call | null {
    return this.#call;
  }

  get dictation(): Dictation | null {
    return this.#dictation;
  }

  /** The voice message being recorded. */
  get message(): VoiceMessage | null {
    return this.#message;
  }

  /** Id of the message being read aloud; null for none. */
  get readingId(): string | null {
    return this.#reading?.id ?? null;
  }

  /** The mouth of the message being read aloud; null for none. */
  get readingLips(): { mouth(): Mouth } | null {
    return this.#reading?.lips ?? null;
  }

  /** What the last call of this browser began with. */
  get lastKind(): string | null {
    return this.#lastKind ?? this.#deps().storage.get(KIND_KEY);
  }

  /** Starts a call of this kind, which the next one has too unless another is chosen. */
  startKind(kind: CallKind): void {
    this.#lastKind = kind;
    this.#deps().storage.put(KIND_KEY, kind);
    this.startCall(kind === "voice" ? null : kind);
  }

  /** Starts a call, with a picture of the camera or the screen if `video` says so, or shows the running one and turns that on. Call
   * it during a user gesture. */
  startCall(video: VideoSource | null = null): void {
    this.callMinimised = false;
    if (this.#call) {
      if (video && !this.#call.video.isOn(video)) void this.#call.video.turnOn(video);
      return;
    }
    this.dictation?.cancel();
    this.message?.cancel();
    this.stopReading();
    this.#load(async () => {
      const context = openAudioContext("play-and-record");
      const { createCall } = await import("./factory");
      const { call, start } = createCall(context, this.#deps(), video, () => (this.#call = null));
      this.#call = call;
      await start();
    });
  }

  /** Sends text into the running call if it belongs to this conversation. Returns whether it did. */
  typeIntoCall(conversation: string | null, text: string): boolean {
    return this.#call !== null && conversation !== null && this.#call.conversation === conversation && this.#call.sendText(text);
  }

  /** Creates the AudioContext for a reply that will be read aloud. Call it during a user gesture. */
  prepareSound(): void {
    if (this.#reading === null && this.#call === null) this.#preparedSound ??= openAudioContext("playback");
  }

  /** Dictates text; `insert` puts it at the caret. A second call finishes the dictation. `language`: the one that is spoken. */
  dictate(insert: (text: string) => void, language?: string): void {
    if (this.#dictation) return this.#dictation.finish();
    if (this.#call || this.#message) return;
    this.stopReading();
    this.#load(async () => {
      const context = openAudioContext("play-and-record");
      const { createDictation } = await import("./factory");
      const { dictation, start } = createDictation(context, this.#deps(), insert, () => (this.#dictation = null), language);
      this.#dictation = dictation;
      await start();
    });
  }

  /** Records a voice message. A second call sends it. */
  recordMessage(): void {
    if (this.#message) return this.#message.finish();
    if (this.#call) return;
    this.#dictation?.finish();
    this.stopReading();
    // The reply is played long after this gesture.
    if (this.#deps().preferences.page.voice_response) this.prepareSound();
    this.#load(async () => {
      const context = openAudioContext("play-and-record");
      const { createVoiceMessage } = await import("./factory");
      const { message, start } = createVoiceMessage(context, this.#deps(), () => (this.#message = null));
      this.#message = message;
      await start();
    });
  }

  /** Reads a message aloud, or stops reading it. */
  toggleReading(id: string, text: string): void {
    if (this.readingId === id) return this.stopReading();
    this.#read((reading) => reading.read(id, text));
  }

  /** Reads a reply while it is generated; `complete`: that was all. */
  readAlong(id: string, text: string, complete: boolean): void {
    if (this.#call || (this.#reading === null && text === "")) return;
    this.#read((reading) => reading.follow(id, text, complete));
  }

  /** Stops reading aloud. */
  stopReading(): void {
    this.#reading?.stop();
  }

  #read(use: (reading: ReadAloud) => void): void {
    if (this.#reading) return use(this.#reading);
    // Calls that arrive while the module loads replace each other: each passes the whole text so far.
    this.#onReady = use;
    this.#load(async () => {
      const context = this.#preparedSound ?? openAudioContext("playback");
      this.#preparedSound = null;
      const { createReadAloud } = await import("./factory");
      this.#reading ??= createReadAloud(context, this.#deps(), () => (this.#reading = null));
      this.#onReady(this.#reading);
    });
  }

  #load(begin: () => Promise<void>): void {
    if (this.#busy) return;
    this.#busy = true;
    // Runs synchronously up to the first await, and so still within the user gesture.
    void begin()
      .catch(() => this.#deps().onLoadFailure())
      .finally(() => (this.#busy = false));
  }
}
