// What of voice is there from the first: whether a call, a dictation, a spoken message or a reading is on, and how each
// begins. All of it is loaded when it is first wanted; only the browser's sound is begun at once, in the press that asked.
import type { Call } from "./call/call.svelte";
import { openAudioContext } from "./audio/audio_context";
import type { Dictation } from "./recording/dictation.svelte";
import type { ReadAloud } from "./read_aloud.svelte";
import type { VoiceMessage } from "./recording/voice_message.svelte";
import type { VoiceDependencies } from "./factory";

export class Voice {
  readonly #deps: () => VoiceDependencies;
  #call = $state.raw<Call | null>(null);
  #dictation = $state.raw<Dictation | null>(null);
  #message = $state.raw<VoiceMessage | null>(null);
  #reading = $state.raw<ReadAloud | null>(null);
  #busy = false;
  #preparedSound: AudioContext | null = null;
  #onReady: (reading: ReadAloud) => void = () => {};
  /** The call is a line above the composer, and the conversation in sight. */
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

  /** The message that is being spoken. */
  get message(): VoiceMessage | null {
    return this.#message;
  }

  /** The message that is being read out; null for none. */
  get readingId(): string | null {
    return this.#reading?.id ?? null;
  }

  /** Call, or bring the call that is on before everything else. Call it while a person presses something. */
  startCall(): void {
    this.callMinimised = false;
    if (this.#call) return;
    this.dictation?.cancel();
    this.message?.cancel();
    this.stopReading();
    this.#load(async () => {
      const context = openAudioContext("play-and-record");
      const { createCall } = await import("./factory");
      const { call, start } = createCall(context, this.#deps(), () => (this.#call = null));
      this.#call = call;
      await start();
    });
  }

  /** Say it in writing in the call that is on, if it is in this conversation. False: nobody would read it. */
  typeIntoCall(conversation: string | null, text: string): boolean {
    return this.#call !== null && conversation !== null && this.#call.conversation === conversation && this.#call.sendText(text);
  }

  /** A reply that is to be read out is on its way: the browser's sound is begun while a person presses something. */
  prepareSound(): void {
    if (this.#reading === null && this.#call === null) this.#preparedSound ??= openAudioContext("playback");
  }

  /** Write what is said at the caret; `insert` puts it there. */
  dictate(insert: (text: string) => void): void {
    if (this.#dictation) return this.#dictation.finish();
    if (this.#call || this.#message) return;
    this.stopReading();
    this.#load(async () => {
      const context = openAudioContext("play-and-record");
      const { createDictation } = await import("./factory");
      const { dictation, start } = createDictation(context, this.#deps(), insert, () => (this.#dictation = null));
      this.#dictation = dictation;
      await start();
    });
  }

  /** Speak a message of the chat; `held` tells whether the button that asked for it is still down. Once more: it is sent. */
  recordMessage(isHeld: () => boolean = () => false): void {
    if (this.#message) return this.#message.finish();
    if (this.#call) return;
    this.#dictation?.finish();
    this.stopReading();
    // The reply will be heard after the press is long over.
    if (this.#deps().preferences.page.voice_response) this.prepareSound();
    this.#load(async () => {
      const context = openAudioContext("play-and-record");
      const { createVoiceMessage } = await import("./factory");
      const { message, start } = createVoiceMessage(context, this.#deps(), () => (this.#message = null));
      this.#message = message;
      if (!isHeld()) message.goHandsFree();
      await start();
    });
  }

  /** Read a message out, or stop reading it. */
  toggleReading(id: string, text: string): void {
    if (this.readingId === id) return this.stopReading();
    this.#read((reading) => reading.read(id, text));
  }

  /** More of a reply that is read out while it is written; `ended`: that was all. */
  readAlong(id: string, text: string, complete: boolean): void {
    if (this.#call || (this.#reading === null && text === "")) return;
    this.#read((reading) => reading.follow(id, text, complete));
  }

  /** No reading goes on. */
  stopReading(): void {
    this.#reading?.stop();
  }

  #read(use: (reading: ReadAloud) => void): void {
    if (this.#reading) return use(this.#reading);
    // What was asked for last while it is loaded counts: it says all that came before.
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
    // The first lines of `begin` run here, within the press.
    void begin()
      .catch(() => this.#deps().onLoadFailure())
      .finally(() => (this.#busy = false));
  }
}
