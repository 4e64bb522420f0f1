// The devices of a call: its microphone and its loudspeaker, which of them are used, muting, and how loud both sides are.
// Knows nothing of the connection or the conversation. Used by `Call`. No DOM.
import { voice as words } from "../../language/en/voice/voice";
import type { Frame } from "../audio/framer";
import { type Device, type Microphone, type MicrophoneChoice, MicrophoneError, type MicrophoneListener } from "../audio/microphone";
import type { PlayoutOrder, PlayoutReport } from "../audio/playout";
import type { Speaker } from "../audio/speaker";

/** Output devices, where the browser offers a choice. */
export interface Outputs {
  readonly list: () => Promise<Device[]>;
  /** Empty: the browser's default. */
  readonly current: () => string;
  /** Switches to a device and remembers it; false if it is not available. */
  readonly use: (device: string) => Promise<boolean>;
}

export interface CallDevices {
  readonly microphone: (choice: MicrophoneChoice, listener: MicrophoneListener) => Promise<Microphone>;
  readonly speaker: (onReport: (report: PlayoutReport) => void) => Promise<Speaker>;
  readonly microphones: () => Promise<Device[]>;
  readonly outputs: Outputs;
  readonly choice: () => MicrophoneChoice;
  readonly saveMicrophone: (device: string) => void;
}

export interface SoundListener {
  /** What the microphone hears; silence while it is muted. */
  readonly onFrame: (pcm: Frame["pcm"]) => void;
  readonly onPlayed: (report: PlayoutReport) => void;
  /** A device is gone or cannot be used; the call continues. */
  readonly onTrouble: (sentence: string) => void;
}

export class CallSound {
  readonly #devices: CallDevices;
  readonly #listener: SoundListener;
  #muted = $state(false);
  /** Push-to-talk is on and its button is not pressed. */
  #held = false;
  #closed = false;
  /** Counts the microphones asked for: one that opens after a newer one was asked for is closed again. */
  #asked = 0;
  #microphones = $state.raw<readonly Device[]>([]);
  #microphoneId = $state("");
  #outputs = $state.raw<readonly Device[]>([]);
  #output = $state("");
  #microphone: Microphone | null = null;
  #speaker: Speaker | null = null;
  #volume = { in: 0, out: 0 };

  constructor(devices: CallDevices, listener: SoundListener) {
    this.#devices = devices;
    this.#listener = listener;
  }

  get muted(): boolean {
    return this.#muted;
  }

  get microphones(): readonly Device[] {
    return this.#microphones;
  }

  get microphone(): string {
    return this.#microphoneId;
  }

  /** Output devices; empty if there is no choice. */
  get outputs(): readonly Device[] {
    return this.#outputs;
  }

  get output(): string {
    return this.#output;
  }

  /** Current loudness of both sides, 0 to 1. Not reactive: drawings poll it. */
  get volume(): { readonly in: number; readonly out: number } {
    return this.#volume;
  }

  /** Opens both devices. Throws MicrophoneError, or what the loudspeaker throws. Closed meanwhile, it opens none. */
  async open(): Promise<void> {
    this.#closed = false;
    await this.#openMicrophone();
    const speaker = (this.#speaker ??= await this.#devices.speaker((report) => this.#onReport(report)));
    if (this.#isClosed()) {
      speaker.stop();
      this.#speaker = null;
      return;
    }
    this.#output = this.#devices.outputs.current();
    void this.list();
  }

  close(): void {
    this.#closed = true;
    this.#microphone?.stop();
    this.#microphone = null;
    this.#speaker?.stop();
    this.#speaker = null;
    this.#volume = { in: 0, out: 0 };
  }

  play(order: PlayoutOrder): void {
    this.#speaker?.play(order);
  }

  mute(muted: boolean): void {
    this.#muted = muted;
    this.#applyMute();
  }

  /** Push-to-talk keeps the microphone silent, or no longer. */
  hold(held: boolean): void {
    this.#held = held;
    this.#applyMute();
  }

  /** Playback was dropped; the loudspeaker reports that later. */
  fallSilent(): void {
    this.#volume.out = 0;
  }

  async useMicrophone(device: string): Promise<void> {
    this.#devices.saveMicrophone(device);
    await this.#switchMicrophone({ ...this.#devices.choice(), device });
  }

  /** Plays the other side on this output device. */
  async useOutput(device: string): Promise<void> {
    const changed = await this.#devices.outputs.use(device);
    this.#output = changed ? device : "";
    if (!changed) this.#listener.onTrouble(words().otherLoudspeaker);
  }

  /** Asks the browser again which devices there are. */
  async list(): Promise<void> {
    this.#microphones = await this.#devices.microphones();
    this.#outputs = await this.#devices.outputs.list();
  }

  /** Replaces the open microphone. */
  async #switchMicrophone(choice: MicrophoneChoice): Promise<void> {
    const before = this.#microphone;
    this.#microphone = null;
    before?.stop();
    try {
      await this.#openMicrophone(choice);
    } catch (error) {
      this.#listener.onTrouble(words().faults[error instanceof MicrophoneError ? error.fault : "failed"]);
    }
    void this.list();
  }

  async #openMicrophone(choice = this.#devices.choice()): Promise<void> {
    if (this.#microphone) return;
    const number = ++this.#asked;
    const microphone = await this.#devices.microphone(choice, { onFrame: (frame) => this.#onFrame(frame), onLost: () => void this.#onLost() });
    if (this.#isClosed() || number !== this.#asked) return microphone.stop();
    this.#microphone = microphone;
    this.#microphoneId = microphone.device;
    this.#applyMute();
  }

  async #onLost(): Promise<void> {
    this.#listener.onTrouble(words().otherMicrophone);
    await this.#switchMicrophone({ ...this.#devices.choice(), device: "" });
  }

  /** A method, because the compiler does not expect the field to change over an await. */
  #isClosed(): boolean {
    return this.#closed;
  }

  #applyMute(): void {
    this.#microphone?.setMuted(this.#muted || this.#held);
    if (this.#muted) this.#volume.in = 0;
  }

  #onFrame({ pcm, level }: Frame): void {
    this.#volume.in = level;
    this.#listener.onFrame(pcm);
  }

  #onReport(report: PlayoutReport): void {
    this.#volume.out = report.state === "playing" ? report.level : 0;
    this.#listener.onPlayed(report);
  }
}
