// What of voice is there from the first: whether a call, a dictation, a spoken message or a reading is on, and how each
// begins. All of it is loaded when it is first wanted; only the browser's sound is begun at once, in the press that asked.
import type { Call } from "./call/call.svelte";
import { openSound } from "./audio/context";
import type { Dictation } from "./dictation/dictation.svelte";
import type { Reading } from "./reading.svelte";
import type { Utterance } from "./dictation/utterance.svelte";
import type { VoiceParts } from "./beginnings";

export class Voice {
  readonly #parts: () => VoiceParts;
  #call = $state.raw<Call | null>(null);
  #dictation = $state.raw<Dictation | null>(null);
  #utterance = $state.raw<Utterance | null>(null);
  #reading = $state.raw<Reading | null>(null);
  #busy = false;
  #warm: AudioContext | null = null;
  #asked: (reading: Reading) => void = () => {};
  /** The call is a line above the composer, and the conversation in sight. */
  small = $state(false);

  constructor(parts: () => VoiceParts) {
    this.#parts = parts;
  }

  get call(): Call | null {
    return this.#call;
  }

  get dictation(): Dictation | null {
    return this.#dictation;
  }

  /** The message that is being spoken. */
  get utterance(): Utterance | null {
    return this.#utterance;
  }

  /** The message that is being read out; null for none. */
  get read(): string | null {
    return this.#reading?.id ?? null;
  }

  /** Call, or bring the call that is on before everything else. Call it while a person presses something. */
  begin(): void {
    this.small = false;
    if (this.#call) return;
    this.dictation?.cancel();
    this.utterance?.cancel();
    this.hush();
    this.#load(async () => {
      const context = openSound("play-and-record");
      const { beginCall } = await import("./beginnings");
      const { call, ready } = beginCall(context, this.#parts(), () => (this.#call = null));
      this.#call = call;
      await ready();
    });
  }

  /** Say it in writing in the call that is on, if it is in this conversation. False: nobody would read it. */
  type(conversation: string | null, text: string): boolean {
    return this.#call !== null && conversation !== null && this.#call.conversation === conversation && this.#call.type(text);
  }

  /** A reply that is to be read out is on its way: the browser's sound is begun while a person presses something. */
  warm(): void {
    if (this.#reading === null && this.#call === null) this.#warm ??= openSound("playback");
  }

  /** Write what is said at the caret; `insert` puts it there. */
  dictate(insert: (text: string) => void): void {
    if (this.#dictation) return this.#dictation.finish();
    if (this.#call || this.#utterance) return;
    this.hush();
    this.#load(async () => {
      const context = openSound("play-and-record");
      const { beginDictation } = await import("./beginnings");
      const { dictation, ready } = beginDictation(context, this.#parts(), insert, () => (this.#dictation = null));
      this.#dictation = dictation;
      await ready();
    });
  }

  /** Speak a message of the chat; `held` tells whether the button that asked for it is still down. Once more: it is sent. */
  speak(held: () => boolean = () => false): void {
    if (this.#utterance) return this.#utterance.finish();
    if (this.#call) return;
    this.#dictation?.finish();
    this.hush();
    // The reply will be heard after the press is long over.
    if (this.#parts().preferences.page.voice_response) this.warm();
    this.#load(async () => {
      const context = openSound("play-and-record");
      const { beginUtterance } = await import("./beginnings");
      const { utterance, ready } = beginUtterance(context, this.#parts(), () => (this.#utterance = null));
      this.#utterance = utterance;
      if (!held()) utterance.free();
      await ready();
    });
  }

  /** Read a message out, or stop reading it. */
  readOut(id: string, text: string): void {
    if (this.read === id) return this.hush();
    this.#read((reading) => reading.say(id, text));
  }

  /** More of a reply that is read out while it is written; `ended`: that was all. */
  follow(id: string, text: string, ended: boolean): void {
    if (this.#call || (this.#reading === null && text === "")) return;
    this.#read((reading) => reading.follow(id, text, ended));
  }

  /** No reading goes on. */
  hush(): void {
    this.#reading?.stop();
  }

  #read(use: (reading: Reading) => void): void {
    if (this.#reading) return use(this.#reading);
    // What was asked for last while it is loaded counts: it says all that came before.
    this.#asked = use;
    this.#load(async () => {
      const context = this.#warm ?? openSound("playback");
      this.#warm = null;
      const { beginReading } = await import("./beginnings");
      this.#reading ??= beginReading(context, this.#parts(), () => (this.#reading = null));
      this.#asked(this.#reading);
    });
  }

  #load(begin: () => Promise<void>): void {
    if (this.#busy) return;
    this.#busy = true;
    // The first lines of `begin` run here, within the press.
    void begin()
      .catch(() => this.#parts().missing())
      .finally(() => (this.#busy = false));
  }
}
