// A call: what state it is in, what is said in it, and what a person does in it. Owns the order of things from the first
// press to hanging up; microphone, loudspeaker and socket are given to it. Knows no DOM.
import { problems } from "../../language/en/problems";
import { voice as words } from "../../language/en/voice";
import type { Clock } from "../../wire/transport/clock";
import type { ApprovalAnswer } from "../../wire/conversations";
import type { Approval } from "../../wire/rows";
import { Captions, type Line as CaptionLine } from "./captions";
import type { Frame } from "../audio/framer";
import type { CallSocket, OpenSocket } from "./socket";
import { type Device, type Microphone, type MicrophoneChoice, type MicrophoneFault, type MicrophoneListener, MicrophoneError } from "../audio/microphone";
import { Playback } from "./playback";
import type { PlayoutReport } from "../audio/playout";
import { type CallStart, type CallState, type ClientMessage, readMessage, type ServerMessage, startMessage } from "./protocol";
import { PendingApprovals } from "./pending_approvals.svelte";
import { OUTPUT_RATE } from "../audio/samples";
import type { Speaker } from "../audio/speaker";

/** "again": the line was lost and is dialled anew. */
export type Phase = "beginning" | "live" | "again" | "over";

/** The loudspeakers, where there is a choice. */
export interface Outputs {
  readonly list: () => Promise<Device[]>;
  /** Empty: the browser's own choice. */
  readonly current: () => string;
  /** Use and remember this one; false where it cannot be had. */
  readonly use: (device: string) => Promise<boolean>;
}

export interface CallDependencies {
  readonly openSocket: OpenSocket;
  readonly microphone: (choice: MicrophoneChoice, listener: MicrophoneListener) => Promise<Microphone>;
  readonly speaker: (onReport: (report: PlayoutReport) => void) => Promise<Speaker>;
  readonly microphones: () => Promise<Device[]>;
  readonly outputs: Outputs;
  /** Keep the screen on; the answer ends that. */
  readonly keepScreenOn: () => () => void;
  /** Gives back the browser's sound. */
  readonly release: () => void;
  readonly clock: Clock;
  /** How the call is to be; asked each time it is dialled. The conversation is made where there is none; a text is why not. */
  readonly startOptions: () => Promise<CallStart | string>;
  readonly choice: () => MicrophoneChoice;
  /** Remember this microphone, and whether one holds to talk. */
  readonly saveMicrophone: (device: string) => void;
  readonly saveHoldToTalk: (holds: boolean) => void;
  /** The conversation is another than it was: read it again. */
  readonly onConversationChanged: () => void;
  readonly onEnd: () => void;
}

/** Milliseconds between two tries to dial again; after the last one the call is over. */
const RETRY_DELAYS_MS = [400, 1000, 2000, 4000, 8000];
/** A line that held so long was a good one: the tries count anew. */
const STABLE_CONNECTION_MS = 20_000;
/** What a code of the socket's close says: the server wants no more of this call. */
const FINAL_CLOSE_CODES = new Set([1000, 1008, 1009, 1013]);
/** A sentence about something that passed stays so long. */
const NOTICE_MS = 8000;

export class Call {
  readonly #deps: CallDependencies;
  readonly #playback: Playback;
  #phase = $state<Phase>("beginning");
  #state = $state<CallState>("listening");
  #captions = $state.raw(new Captions());
  #problem = $state("");
  #fault = $state<MicrophoneFault | null>(null);
  #notice = $state("");
  #queuePosition = $state.raw<{ readonly position: number; readonly wait: number | null } | null>(null);
  #muted = $state(false);
  #holdToTalk = $state(false);
  #talkPressed = $state(false);
  #microphones = $state.raw<readonly Device[]>([]);
  #microphoneId = $state("");
  #outputs = $state.raw<readonly Device[]>([]);
  #output = $state("");
  readonly #approvals = new PendingApprovals();
  #playbackPosition = $state.raw<{ readonly reply: number; readonly heard: number } | null>(null);
  /** Something was said or typed: there is something to keep. */
  #hasContent = $state(false);
  #conversation = $state.raw<string | null>(null);
  #socket: CallSocket | null = null;
  #microphone: Microphone | null = null;
  #speaker: Speaker | null = null;
  /** Counts the lines: what an older one says is not listened to. */
  #connection = 0;
  #retries = 0;
  #since = 0;
  #lastError = "";
  #cancelTimer: (() => void) | null = null;
  #releaseScreen: (() => void) | null = null;
  #cancelNotice: (() => void) | null = null;
  #volume = { in: 0, out: 0 };

  constructor(deps: CallDependencies, holds = false) {
    this.#deps = deps;
    this.#holdToTalk = holds;
    this.#playback = new Playback({
      play: (order) => this.#speaker?.play(order),
      send: (message) => this.#send(message),
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
  get queuePosition(): { readonly position: number; readonly wait: number | null } | null {
    return this.#queuePosition;
  }

  get muted(): boolean {
    return this.#muted;
  }

  /** Whether one holds a button to talk. */
  get holdToTalk(): boolean {
    return this.#holdToTalk;
  }

  get talkPressed(): boolean {
    return this.#talkPressed;
  }

  get microphones(): readonly Device[] {
    return this.#microphones;
  }

  get microphone(): string {
    return this.#microphoneId;
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
    return this.#approvals.current;
  }

  /** What it belongs to, once that is known. */
  get conversation(): string | null {
    return this.#conversation;
  }

  get hasContent(): boolean {
    return this.#hasContent;
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
  heardMs(reply: number): number {
    return this.#playbackPosition?.reply === reply ? this.#playbackPosition.heard : 0;
  }

  /** Ask for the microphone and dial. */
  async start(): Promise<void> {
    this.#phase = "beginning";
    this.#problem = "";
    this.#fault = null;
    try {
      await this.#openMicrophone();
      this.#speaker ??= await this.#deps.speaker((report) => this.#onPlayoutReport(report));
    } catch (error) {
      return this.#end(error instanceof MicrophoneError ? words().faults[error.fault] : words().noSound, error instanceof MicrophoneError ? error.fault : null);
    }
    if (this.phase === "over") return this.#releaseDevices();
    this.#releaseScreen ??= this.#deps.keepScreenOn();
    this.#output = this.#deps.outputs.current();
    void this.listDevices();
    await this.#dial();
  }

  hangUp(): void {
    if (this.#phase !== "over") {
      this.#send({ type: "stop" });
      this.#end("");
    }
    this.#deps.onEnd();
  }

  mute(muted = !this.#muted): void {
    this.#muted = muted;
    this.#applyMute();
  }

  /** Silence, now. */
  interrupt(): void {
    if (this.#phase !== "live") return;
    this.#playback.interrupt();
    this.#volume.out = 0;
  }

  /** Say it in writing; false where nobody would read it. */
  sendText(text: string): boolean {
    const written = text.trim();
    if (written === "" || this.#phase !== "live") return false;
    this.#hasContent = true;
    this.#send({ type: "text", text: written });
    return true;
  }

  /** Answer a question; gives a sentence where nobody would hear it. */
  async answerApproval(approval: Approval, answer: ApprovalAnswer): Promise<string> {
    if (this.#phase !== "live") return words().callingAgain;
    this.#send({ type: "approval", id: approval.id, ...answer });
    this.#approvals.remove(approval.id);
    return "";
  }

  /** The button to talk goes down, or up. */
  setTalkPressed(down: boolean): void {
    if (!this.#holdToTalk || this.#talkPressed === down || this.#phase !== "live") return;
    this.#talkPressed = down;
    this.#applyMute();
    this.#send({ type: "hold", down });
  }

  /** Hold to talk, or not. The server need not know: between two presses it hears silence. */
  setHoldToTalk(holds: boolean): void {
    if (holds === this.#holdToTalk) return;
    this.setTalkPressed(false);
    this.#holdToTalk = holds;
    this.#deps.saveHoldToTalk(holds);
    this.#applyMute();
  }

  async useMicrophone(device: string): Promise<void> {
    this.#deps.saveMicrophone(device);
    await this.#switchMicrophone({ ...this.#deps.choice(), device });
  }

  /** Let the other side be heard through this loudspeaker. */
  async useOutput(device: string): Promise<void> {
    const changed = await this.#deps.outputs.use(device);
    this.#output = changed ? device : "";
    if (!changed) this.#showNotice(words().otherLoudspeaker);
  }

  async listDevices(): Promise<void> {
    this.#microphones = await this.#deps.microphones();
    this.#outputs = await this.#deps.outputs.list();
  }

  /** Another microphone in the place of the one there is. */
  async #switchMicrophone(choice: MicrophoneChoice): Promise<void> {
    const before = this.#microphone;
    this.#microphone = null;
    before?.stop();
    try {
      await this.#openMicrophone(choice);
    } catch (error) {
      this.#showNotice(words().faults[error instanceof MicrophoneError ? error.fault : "failed"]);
    }
    void this.listDevices();
  }

  async #openMicrophone(choice = this.#deps.choice()): Promise<void> {
    if (this.#microphone) return;
    const microphone = await this.#deps.microphone(choice, { onFrame: (frame) => this.#onFrame(frame), onLost: () => void this.#onMicrophoneLost() });
    if (this.#phase === "over") return microphone.stop();
    this.#microphone = microphone;
    this.#microphoneId = microphone.device;
    this.#applyMute();
  }

  async #onMicrophoneLost(): Promise<void> {
    this.#showNotice(words().otherMicrophone);
    await this.#switchMicrophone({ ...this.#deps.choice(), device: "" });
  }

  #applyMute(): void {
    this.#microphone?.setMuted(this.#muted || (this.#holdToTalk && !this.#talkPressed));
    if (this.#muted) this.#volume.in = 0;
  }

  #onFrame({ pcm, level }: Frame): void {
    this.#volume.in = level;
    if (this.#phase === "live") this.#socket?.sendAudio(pcm);
  }

  #onPlayoutReport(report: PlayoutReport): void {
    this.#volume.out = report.state === "playing" ? report.level : 0;
    this.#playback.onReport(report);
    this.#playbackPosition = { reply: report.reply, heard: (report.samples * 1000) / OUTPUT_RATE };
  }

  async #dial(): Promise<void> {
    const number = ++this.#connection;
    this.#socket?.close();
    this.#socket = null;
    this.#discardOutput();
    const options = await this.#deps.startOptions();
    if (number !== this.#connection || this.phase === "over") return;
    if (typeof options === "string") return this.#end(options);
    this.#conversation = options.conversation;
    const isThis = () => number === this.#connection;
    this.#lastError = "";
    this.#socket = this.#deps.openSocket({
      onOpen: () => {
        if (isThis()) this.#socket?.sendText(startMessage(options));
      },
      onText: (text) => {
        const message = isThis() ? readMessage(text) : null;
        if (message) this.#handle(message);
      },
      onAudio: (pcm) => {
        if (isThis()) this.#playback.sound(pcm);
      },
      onClose: (code) => {
        if (isThis()) this.#onClose(code);
      },
    });
  }

  /** Nothing more comes of what was being said. */
  #discardOutput(): void {
    this.#playback.reset();
    this.#captions = this.#captions.withConnectionLost((reply) => this.heardMs(reply));
    this.#playbackPosition = null;
    this.#approvals.clear();
  }

  #onClose(code: number): void {
    this.#socket = null;
    this.#discardOutput();
    this.#queuePosition = null;
    if (this.#phase === "over") return;
    if (FINAL_CLOSE_CODES.has(code)) return this.#end(this.#lastError || words().ended);
    if (this.#phase === "live" && this.#deps.clock.now() - this.#since > STABLE_CONNECTION_MS) this.#retries = 0;
    const delay = RETRY_DELAYS_MS[this.#retries++];
    if (delay === undefined) return this.#end(words().unreachable);
    this.#phase = this.#phase === "beginning" ? "beginning" : "again";
    this.#talkPressed = false;
    this.#applyMute();
    this.#cancelTimer = this.#deps.clock.after(delay, () => void this.#dial());
  }

  #handle(message: ServerMessage): void {
    if (!this.#playback.isCurrent(message)) return;
    this.#playback.handle(message);
    switch (message.type) {
      case "status":
        return this.#setState(message.state);
      case "queued":
        this.#queuePosition = { position: message.position, wait: message.wait };
        return;
      case "queue_done":
        this.#queuePosition = null;
        return;
      case "asked":
        return this.#approvals.add(message.approval);
      case "answered":
        return this.#approvals.remove(message.id);
      case "history":
        return this.#deps.onConversationChanged();
      case "error":
        this.#lastError = problems().told(message.code, message.message);
        return this.#showNotice(this.#lastError);
      default:
        this.#updateCaptions(message);
    }
  }

  #setState(state: CallState): void {
    if (this.#phase !== "live") {
      this.#phase = "live";
      this.#since = this.#deps.clock.now();
    }
    this.#state = state;
    if (state !== "waiting") this.#queuePosition = null;
  }

  #updateCaptions(message: ServerMessage): void {
    const before = this.#captions;
    const id = (kind: string, count: number) => `${this.#connection}-${kind}-${count}`;
    switch (message.type) {
      case "transcript":
        if (message.text !== "") this.#hasContent = true;
        this.#captions = before.withTranscript(id("turn", message.turn), message.text, message.final, message.understood);
        break;
      case "response_text":
        this.#captions = before.withReplyText(id("reply", message.reply), message.reply, message.text, message.final);
        break;
      case "caption":
        this.#captions = before.withWords(id("reply", message.reply), message.reply, message.words);
        break;
      case "tool":
        this.#captions = before.withTool(`${this.#connection}-tool-${message.call}`, message.tool, message.state, message.text);
        break;
      case "reply_done":
        this.#captions = before.withReplyDone(id("reply", message.reply), message.reply, message.text, message.unheard, message.ending);
        break;
    }
  }

  #send(message: ClientMessage): void {
    this.#socket?.sendText(JSON.stringify(message));
  }

  /** A sentence that passes. */
  #showNotice(sentence: string): void {
    this.#notice = sentence;
    this.#cancelNotice?.();
    this.#cancelNotice = this.#deps.clock.after(NOTICE_MS, () => (this.#notice = ""));
  }

  /** The call is over; a problem stays in sight until it is put away. */
  #end(problem: string, fault: MicrophoneFault | null = null): void {
    this.#phase = "over";
    this.#problem = problem;
    this.#fault = fault;
    this.#connection++;
    this.#cancelTimer?.();
    this.#cancelNotice?.();
    this.#notice = "";
    this.#queuePosition = null;
    this.#approvals.clear();
    this.#socket?.close();
    this.#socket = null;
    this.#releaseDevices();
  }

  #releaseDevices(): void {
    this.#microphone?.stop();
    this.#microphone = null;
    this.#speaker?.stop();
    this.#speaker = null;
    this.#releaseScreen?.();
    this.#releaseScreen = null;
    this.#volume = { in: 0, out: 0 };
    this.#deps.release();
  }
}
