// A call: what state it is in, what is said in it, and what a person does in it. Owns the order of things from the first
// press to hanging up; microphone, loudspeaker and socket are given to it. Knows no DOM.
import { problems } from "../../language/en/problems";
import { voice as words } from "../../language/en/voice";
import type { Clock } from "../../wire/transport/clock";
import type { ApprovalAnswer } from "../../wire/conversations";
import type { Approval } from "../../wire/rows";
import { Captions, type Line as CaptionLine } from "./captions";
import type { Frame } from "../audio/framing";
import type { Line, OpenLine } from "./line";
import { type Device, type Microphone, type MicrophoneChoice, type MicrophoneFault, type MicrophoneListener, NoMicrophone } from "../audio/microphone";
import { Playing } from "./playing";
import type { PlayoutReport } from "../audio/playout";
import { type CallStart, type CallState, type ClientMessage, readMessage, type ServerMessage, startMessage } from "./protocol";
import { Questions } from "./questions.svelte";
import { SPOKEN_RATE } from "../audio/samples";
import type { Speaker } from "../audio/speaker";

/** "again": the line was lost and is dialled anew. */
export type Phase = "beginning" | "live" | "again" | "over";

/** The loudspeakers, where there is a choice. */
export interface Outputs {
  readonly list: () => Promise<Device[]>;
  /** Empty: the browser's own choice. */
  readonly chosen: () => string;
  /** Use and remember this one; false where it cannot be had. */
  readonly use: (device: string) => Promise<boolean>;
}

export interface CallMeans {
  readonly open: OpenLine;
  readonly microphone: (choice: MicrophoneChoice, listener: MicrophoneListener) => Promise<Microphone>;
  readonly speaker: (reported: (report: PlayoutReport) => void) => Promise<Speaker>;
  readonly microphones: () => Promise<Device[]>;
  readonly outputs: Outputs;
  /** Keep the screen on; the answer ends that. */
  readonly awake: () => () => void;
  /** Gives back the browser's sound. */
  readonly release: () => void;
  readonly clock: Clock;
  /** How the call is to be; asked each time it is dialled. The conversation is made where there is none; a text is why not. */
  readonly wanted: () => Promise<CallStart | string>;
  readonly choice: () => MicrophoneChoice;
  /** Remember this microphone, and whether one holds to talk. */
  readonly chosen: (device: string) => void;
  readonly held: (holds: boolean) => void;
  /** The conversation is another than it was: read it again. */
  readonly changed: () => void;
  readonly ended: () => void;
}

/** Milliseconds between two tries to dial again; after the last one the call is over. */
const TRIES = [400, 1000, 2000, 4000, 8000];
/** A line that held so long was a good one: the tries count anew. */
const GOOD = 20_000;
/** What a code of the socket's close says: the server wants no more of this call. */
const REFUSED = new Set([1000, 1008, 1009, 1013]);
/** A sentence about something that passed stays so long. */
const STAYS = 8000;

export class Call {
  readonly #means: CallMeans;
  readonly #playing: Playing;
  #phase = $state<Phase>("beginning");
  #state = $state<CallState>("listening");
  #captions = $state.raw(new Captions());
  #problem = $state("");
  #fault = $state<MicrophoneFault | null>(null);
  #notice = $state("");
  #place = $state.raw<{ readonly position: number; readonly wait: number | null } | null>(null);
  #muted = $state(false);
  #holds = $state(false);
  #pressed = $state(false);
  #devices = $state.raw<readonly Device[]>([]);
  #device = $state("");
  #outputs = $state.raw<readonly Device[]>([]);
  #output = $state("");
  readonly #questions = new Questions();
  #spoken = $state.raw<{ readonly reply: number; readonly heard: number } | null>(null);
  /** Something was said or typed: there is something to keep. */
  #anything = $state(false);
  #conversation = $state.raw<string | null>(null);
  #line: Line | null = null;
  #microphone: Microphone | null = null;
  #speaker: Speaker | null = null;
  /** Counts the lines: what an older one says is not listened to. */
  #lines = 0;
  #tries = 0;
  #since = 0;
  #lastError = "";
  #cancelTimer: (() => void) | null = null;
  #rest: (() => void) | null = null;
  #callOffNotice: (() => void) | null = null;
  #volume = { in: 0, out: 0 };

  constructor(means: CallMeans, holds = false) {
    this.#means = means;
    this.#holds = holds;
    this.#playing = new Playing({
      play: (order) => this.#speaker?.play(order),
      tell: (message) => this.#tell(message),
    });
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** What the server says the call is at; of a live one. */
  get state(): CallState {
    return this.#state;
  }

  get lines(): readonly CaptionLine[] {
    return this.#captions.lines;
  }

  /** Why the call is over, or cannot begin. */
  get problem(): string {
    return this.#problem;
  }

  /** What is wrong with the microphone. */
  get fault(): MicrophoneFault | null {
    return this.#fault;
  }

  /** Something that happened and that the call goes on after. */
  get notice(): string {
    return this.#notice;
  }

  /** The place in the queue for a seat. */
  get place(): { readonly position: number; readonly wait: number | null } | null {
    return this.#place;
  }

  get muted(): boolean {
    return this.#muted;
  }

  /** Whether one holds a button to talk. */
  get holds(): boolean {
    return this.#holds;
  }

  get pressed(): boolean {
    return this.#pressed;
  }

  get devices(): readonly Device[] {
    return this.#devices;
  }

  get device(): string {
    return this.#device;
  }

  /** The loudspeakers there are; none where there is no choice. */
  get outputs(): readonly Device[] {
    return this.#outputs;
  }

  get output(): string {
    return this.#output;
  }

  /** What has to be answered before the reply goes on. */
  get approval(): Approval | null {
    return this.#questions.current;
  }

  /** What it belongs to, once that is known. */
  get conversation(): string | null {
    return this.#conversation;
  }

  get anything(): boolean {
    return this.#anything;
  }

  /** How loud both sides are now, 0 to 1: for a drawing that looks each time. */
  get volume(): { readonly in: number; readonly out: number } {
    return this.#volume;
  }

  /** Whether there is a reply to interrupt. */
  get interruptible(): boolean {
    return this.#phase === "live" && (this.#state === "speaking" || this.#state === "thinking" || this.#state === "paused");
  }

  /** Milliseconds of a reply that were heard. */
  heard(reply: number): number {
    return this.#spoken?.reply === reply ? this.#spoken.heard : 0;
  }

  /** Ask for the microphone and dial. */
  async begin(): Promise<void> {
    this.#phase = "beginning";
    this.#problem = "";
    this.#fault = null;
    try {
      await this.#listen();
      this.#speaker ??= await this.#means.speaker((report) => this.#reported(report));
    } catch (error) {
      return this.#end(error instanceof NoMicrophone ? words().faults[error.fault] : words().noSound, error instanceof NoMicrophone ? error.fault : null);
    }
    if (this.phase === "over") return this.#silence();
    this.#rest ??= this.#means.awake();
    this.#output = this.#means.outputs.chosen();
    void this.listDevices();
    await this.#dial();
  }

  hangUp(): void {
    if (this.#phase !== "over") {
      this.#tell({ type: "stop" });
      this.#end("");
    }
    this.#means.ended();
  }

  mute(muted = !this.#muted): void {
    this.#muted = muted;
    this.#hush();
  }

  /** Silence, now. */
  interrupt(): void {
    if (this.#phase !== "live") return;
    this.#playing.interrupt();
    this.#volume.out = 0;
  }

  /** Say it in writing; false where nobody would read it. */
  type(text: string): boolean {
    const written = text.trim();
    if (written === "" || this.#phase !== "live") return false;
    this.#anything = true;
    this.#tell({ type: "text", text: written });
    return true;
  }

  /** Answer a question; gives a sentence where nobody would hear it. */
  async decide(approval: Approval, given: ApprovalAnswer): Promise<string> {
    if (this.#phase !== "live") return words().callingAgain;
    this.#tell({ type: "approval", id: approval.id, ...given });
    this.#questions.answered(approval.id);
    return "";
  }

  /** The button to talk goes down, or up. */
  press(down: boolean): void {
    if (!this.#holds || this.#pressed === down || this.#phase !== "live") return;
    this.#pressed = down;
    this.#hush();
    this.#tell({ type: "hold", down });
  }

  /** Hold to talk, or not. The server need not know: between two presses it hears silence. */
  setHolds(holds: boolean): void {
    if (holds === this.#holds) return;
    this.press(false);
    this.#holds = holds;
    this.#means.held(holds);
    this.#hush();
  }

  async useDevice(device: string): Promise<void> {
    this.#means.chosen(device);
    await this.#exchange({ ...this.#means.choice(), device });
  }

  /** Let the other side be heard through this loudspeaker. */
  async useOutput(device: string): Promise<void> {
    const done = await this.#means.outputs.use(device);
    this.#output = done ? device : "";
    if (!done) this.#say(words().otherLoudspeaker);
  }

  async listDevices(): Promise<void> {
    this.#devices = await this.#means.microphones();
    this.#outputs = await this.#means.outputs.list();
  }

  /** Another microphone in the place of the one there is. */
  async #exchange(choice: MicrophoneChoice): Promise<void> {
    const before = this.#microphone;
    this.#microphone = null;
    before?.stop();
    try {
      await this.#listen(choice);
    } catch (error) {
      this.#say(words().faults[error instanceof NoMicrophone ? error.fault : "failed"]);
    }
    void this.listDevices();
  }

  async #listen(choice = this.#means.choice()): Promise<void> {
    if (this.#microphone) return;
    const microphone = await this.#means.microphone(choice, { heard: (frame) => this.#heard(frame), lost: () => void this.#lostMicrophone() });
    if (this.#phase === "over") return microphone.stop();
    this.#microphone = microphone;
    this.#device = microphone.device;
    this.#hush();
  }

  async #lostMicrophone(): Promise<void> {
    this.#say(words().otherMicrophone);
    await this.#exchange({ ...this.#means.choice(), device: "" });
  }

  #hush(): void {
    this.#microphone?.mute(this.#muted || (this.#holds && !this.#pressed));
    if (this.#muted) this.#volume.in = 0;
  }

  #heard({ pcm, level }: Frame): void {
    this.#volume.in = level;
    if (this.#phase === "live") this.#line?.sound(pcm);
  }

  #reported(report: PlayoutReport): void {
    this.#volume.out = report.state === "playing" ? report.level : 0;
    this.#playing.reported(report);
    this.#spoken = { reply: report.reply, heard: (report.samples * 1000) / SPOKEN_RATE };
  }

  async #dial(): Promise<void> {
    const number = ++this.#lines;
    this.#line?.close();
    this.#line = null;
    this.#cut();
    const wanted = await this.#means.wanted();
    if (number !== this.#lines || this.phase === "over") return;
    if (typeof wanted === "string") return this.#end(wanted);
    this.#conversation = wanted.conversation;
    const isThis = () => number === this.#lines;
    this.#lastError = "";
    this.#line = this.#means.open({
      opened: () => {
        if (isThis()) this.#line?.say(startMessage(wanted));
      },
      said: (text) => {
        const message = isThis() ? readMessage(text) : null;
        if (message) this.#take(message);
      },
      sounded: (pcm) => {
        if (isThis()) this.#playing.sound(pcm);
      },
      closed: (code) => {
        if (isThis()) this.#lost(code);
      },
    });
  }

  /** Nothing more comes of what was being said. */
  #cut(): void {
    this.#playing.reset();
    this.#captions = this.#captions.cut((reply) => this.heard(reply));
    this.#spoken = null;
    this.#questions.clear();
  }

  #lost(code: number): void {
    this.#line = null;
    this.#cut();
    this.#place = null;
    if (this.#phase === "over") return;
    if (REFUSED.has(code)) return this.#end(this.#lastError || words().ended);
    if (this.#phase === "live" && this.#means.clock.now() - this.#since > GOOD) this.#tries = 0;
    const wait = TRIES[this.#tries++];
    if (wait === undefined) return this.#end(words().unreachable);
    this.#phase = this.#phase === "beginning" ? "beginning" : "again";
    this.#pressed = false;
    this.#hush();
    this.#cancelTimer = this.#means.clock.after(wait, () => void this.#dial());
  }

  #take(message: ServerMessage): void {
    if (!this.#playing.isCurrent(message)) return;
    this.#playing.take(message);
    switch (message.type) {
      case "status":
        return this.#turned(message.state);
      case "queued":
        this.#place = { position: message.position, wait: message.wait };
        return;
      case "queue_done":
        this.#place = null;
        return;
      case "asked":
        return this.#questions.asked(message.approval);
      case "answered":
        return this.#questions.answered(message.id);
      case "history":
        return this.#means.changed();
      case "error":
        this.#lastError = problems().told(message.code, message.message);
        return this.#say(this.#lastError);
      default:
        this.#caption(message);
    }
  }

  #turned(state: CallState): void {
    if (this.#phase !== "live") {
      this.#phase = "live";
      this.#since = this.#means.clock.now();
    }
    this.#state = state;
    if (state !== "waiting") this.#place = null;
  }

  #caption(message: ServerMessage): void {
    const before = this.#captions;
    const id = (kind: string, count: number) => `${this.#lines}-${kind}-${count}`;
    switch (message.type) {
      case "transcript":
        if (message.text !== "") this.#anything = true;
        this.#captions = before.heard(id("turn", message.turn), message.text, message.final, message.understood);
        break;
      case "response_text":
        this.#captions = before.written(id("reply", message.reply), message.reply, message.text, message.final);
        break;
      case "caption":
        this.#captions = before.timed(id("reply", message.reply), message.reply, message.words);
        break;
      case "tool":
        this.#captions = before.used(`${this.#lines}-tool-${message.call}`, message.tool, message.state, message.text);
        break;
      case "reply_done":
        this.#captions = before.over(id("reply", message.reply), message.reply, message.text, message.unheard, message.ending);
        break;
    }
  }

  #tell(message: ClientMessage): void {
    this.#line?.say(JSON.stringify(message));
  }

  /** A sentence that passes. */
  #say(sentence: string): void {
    this.#notice = sentence;
    this.#callOffNotice?.();
    this.#callOffNotice = this.#means.clock.after(STAYS, () => (this.#notice = ""));
  }

  /** The call is over; a problem stays in sight until it is put away. */
  #end(problem: string, fault: MicrophoneFault | null = null): void {
    this.#phase = "over";
    this.#problem = problem;
    this.#fault = fault;
    this.#lines++;
    this.#cancelTimer?.();
    this.#callOffNotice?.();
    this.#notice = "";
    this.#place = null;
    this.#questions.clear();
    this.#line?.close();
    this.#line = null;
    this.#silence();
  }

  #silence(): void {
    this.#microphone?.stop();
    this.#microphone = null;
    this.#speaker?.stop();
    this.#speaker = null;
    this.#rest?.();
    this.#rest = null;
    this.#volume = { in: 0, out: 0 };
    this.#means.release();
  }
}
