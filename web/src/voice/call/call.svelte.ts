// A call: its state, captions and controls. Owns the sequence from the first press to hanging up, including
// reconnecting. Its microphone and loudspeaker are in `CallSound`, its camera and screen in `CallVideo`; devices and
// socket are passed in. No DOM.
import { problems } from "../../language/en/shell/problems";
import { recordings } from "../../language/en/voice/recordings";
import { voice as words } from "../../language/en/voice/voice";
import type { Clock } from "../../wire/transport/clock";
import type { ApprovalAnswer } from "../../wire/chat/conversations";
import type { Approval } from "../../wire/chat/rows";
import { Lips } from "../face/lips";
import { Captions, type Line as CaptionLine } from "./captions";
import { type CallDevices, CallSound } from "./call_sound.svelte";
import type { CallSocket, OpenSocket } from "./socket";
import { MicrophoneError, type MicrophoneFault } from "../audio/microphone";
import { PassingNotice } from "./passing_notice.svelte";
import { Playback } from "./playback";
import type { PlayoutReport } from "../audio/playout";
import { type CallStart, type CallState, type ClientMessage, readMessage, type ServerMessage, startMessage, type UnitFigures } from "./protocol";
import { PendingApprovals } from "./pending_approvals.svelte";
import { PushToTalk } from "./push_to_talk.svelte";
import { OUTPUT_RATE } from "../audio/samples";
import type { CallFilm } from "../video_stream/call_film";
import { CallVideo, type VideoDevices, type VideoSource } from "../video/call_video.svelte";

/** "reconnecting": the connection was lost and is being made again. */
export type Phase = "connecting" | "live" | "reconnecting" | "over";

export interface CallDependencies extends CallDevices {
  readonly video: VideoDevices;
  readonly openSocket: OpenSocket;
  /** Keeps the screen on until the returned function is called. */
  readonly keepScreenOn: () => () => void;
  /** Closes the AudioContext. */
  readonly release: () => void;
  readonly clock: Clock;
  /** Options of the call, requested for each connection; creates a conversation if needed. A string is the reason why
   * not. */
  readonly startOptions: () => Promise<CallStart | string>;
  /** Stores the push-to-talk setting. */
  readonly saveHoldToTalk: (holds: boolean) => void;
  /** The conversation has changed on the server: reload it. */
  readonly onConversationChanged: () => void;
  readonly onEnd: () => void;
}

/** Delays between attempts to reconnect, milliseconds; after the last one the call ends. */
const RETRY_DELAYS_MS = [400, 1000, 2000, 4000, 8000];
/** A connection that lasted this long (milliseconds) resets the attempts. */
const STABLE_CONNECTION_MS = 20_000;
/** WebSocket close codes after which the server does not want the call to continue. */
const FINAL_CLOSE_CODES = new Set([1000, 1008, 1009, 1013]);
/** What the server says, once, of frames that it does not use. */
const FRAME_ERRORS = new Set(["modality_unsupported", "app_disabled"]);

export class Call {
  readonly #deps: CallDependencies;
  readonly #playback: Playback;
  /** Its devices: which ones, and how loud. */
  readonly sound: CallSound;
  /** Camera or screen. */
  readonly video: CallVideo;
  /** The mouth of what is audible, for a face. */
  readonly lips: Lips;
  #film = $state.raw<CallFilm | null>(null);
  #phase = $state<Phase>("connecting");
  #state = $state<CallState>("listening");
  #captions = $state.raw(new Captions());
  #problem = $state("");
  #fault = $state<MicrophoneFault | null>(null);
  readonly #notice: PassingNotice;
  #queuePosition = $state.raw<{ readonly position: number; readonly wait: number | null } | null>(null);
  readonly #talk: PushToTalk;
  /** The user wants this call recorded. */
  #wantsRecording = false;
  #recorded = $state(false);
  #otherVoice = $state.raw<string | null>(null);
  #unit = $state.raw<UnitFigures | null>(null);
  readonly #approvals = new PendingApprovals();
  #playbackPosition = $state.raw<{ readonly reply: number; readonly heard: number } | null>(null);
  /** Something was said or typed, so the conversation is worth keeping. */
  #hasContent = $state(false);
  #conversation = $state.raw<string | null>(null);
  #socket: CallSocket | null = null;
  /** Number of the current connection; events of older ones are ignored. */
  #connection = 0;
  #retries = 0;
  #since = 0;
  #lastError = "";
  #cancelTimer: (() => void) | null = null;
  #releaseScreen: (() => void) | null = null;
  #videoAtEnd: VideoSource | null = null;

  constructor(deps: CallDependencies, holds = false) {
    this.#deps = deps;
    this.#notice = new PassingNotice(deps.clock);
    this.lips = new Lips(() => deps.clock.now());
    this.sound = new CallSound(deps, {
      onFrame: (pcm) => {
        if (this.#phase === "live") this.#socket?.sendAudio(pcm);
        this.video.tick();
      },
      onPlayed: (report) => this.#onPlayed(report),
      onTrouble: (sentence) => this.#notice.show(sentence),
    });
    this.#talk = new PushToTalk(holds, (silent) => this.sound.hold(silent));
    this.video = new CallVideo(
      deps.video,
      {
        isOpen: () => this.#phase === "live" && this.#state !== "waiting",
        buffered: () => this.#socket?.buffered ?? 0,
        send: ({ url }, source) => this.#sendPicture({ type: "frame", image: url, source }),
      },
      deps.clock,
    );
    this.#playback = new Playback({
      play: (order) => this.sound.play(order),
      send: (message) => this.#send(message),
    });
  }

  /** The face as the server renders it; null: the page draws it. */
  get film(): CallFilm | null {
    return this.#film;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** State reported by the server while the call is live. */
  get state(): CallState {
    return this.#state;
  }

  get lines(): readonly CaptionLine[] {
    return this.#captions.lines;
  }

  /** Why the call ended or could not start. */
  get problem(): string {
    return this.#problem;
  }

  /** What is wrong with the microphone. */
  get fault(): MicrophoneFault | null {
    return this.#fault;
  }

  /** A passing notice; the call continues. */
  get notice(): string {
    return this.#notice.text;
  }

  /** Position in the queue for a free seat. */
  get queuePosition(): { readonly position: number; readonly wait: number | null } | null {
    return this.#queuePosition;
  }

  get muted(): boolean {
    return this.sound.muted;
  }

  /** Push-to-talk is on. */
  get holdToTalk(): boolean {
    return this.#talk.on;
  }

  get talkPressed(): boolean {
    return this.#talk.pressed;
  }

  /** The server records the call. */
  get recorded(): boolean {
    return this.#recorded;
  }

  /** The voice that speaks instead of the one that was asked for, empty if its name is unknown; null: that one speaks. */
  get otherVoice(): string | null {
    return this.#otherVoice;
  }

  /** Figures of the last piece of the call that a model answered which holds it by itself; null for other models. */
  get unit(): UnitFigures | null {
    return this.#unit;
  }

  /** The approval the reply waits for. */
  get approval(): Approval | null {
    return this.#approvals.current;
  }

  /** The call's conversation, once known. */
  get conversation(): string | null {
    return this.#conversation;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  /** Current loudness of both sides, 0 to 1. Not reactive: drawings poll it. */
  get volume(): { readonly in: number; readonly out: number } {
    return this.sound.volume;
  }

  /** Whether there is a reply to interrupt. */
  get interruptible(): boolean {
    return this.#phase === "live" && (this.#state === "speaking" || this.#state === "thinking" || this.#state === "paused");
  }

  /** What was shown as the call ended, to begin again with. */
  get videoAtEnd(): VideoSource | null {
    return this.#videoAtEnd;
  }

  /** Milliseconds of a reply that were played. */
  heardMs(reply: number): number {
    return this.#playbackPosition?.reply === reply ? this.#playbackPosition.heard : 0;
  }

  /** Opens the microphone and connects. `video`: the call begins with it. */
  async start(video: VideoSource | null = null): Promise<void> {
    this.#videoAtEnd = video;
    this.#phase = "connecting";
    this.#problem = "";
    this.#fault = null;
    try {
      await this.sound.open();
    } catch (error) {
      return this.#end(error instanceof MicrophoneError ? words().faults[error.fault] : words().noSound, error instanceof MicrophoneError ? error.fault : null);
    }
    if (this.phase === "over") return this.#releaseDevices();
    this.#releaseScreen ??= this.#deps.keepScreenOn();
    if (video) void this.video.turnOn(video);
    await this.#dial();
  }

  /** Shows a sentence for a while, for example why something is not possible. */
  explain(sentence: string): void {
    this.#notice.show(sentence);
  }

  hangUp(): void {
    if (this.#phase !== "over") {
      this.#send({ type: "stop" });
      this.#end("");
    }
    this.#deps.onEnd();
  }

  mute(muted = !this.muted): void {
    this.sound.mute(muted);
  }

  /** Stops the reply at once. */
  interrupt(): void {
    if (this.#phase !== "live") return;
    const reply = this.#playback.current;
    if (reply !== null) this.#film?.drop(reply);
    this.#playback.interrupt();
    this.sound.fallSilent();
    this.lips.stop();
  }

  /** Sends text; false while the call is not live. */
  sendText(text: string): boolean {
    const trimmed = text.trim();
    if (trimmed === "" || this.#phase !== "live") return false;
    this.#hasContent = true;
    this.#send({ type: "text", text: trimmed });
    return true;
  }

  /** Answers an approval. Returns a sentence while the call is not live. */
  async answerApproval(approval: Approval, answer: ApprovalAnswer): Promise<string> {
    if (this.#phase !== "live") return words().callingAgain;
    this.#send({ type: "approval", id: approval.id, ...answer });
    this.#approvals.remove(approval.id);
    return "";
  }

  /** The push-to-talk button was pressed or released. */
  setTalkPressed(down: boolean): void {
    if (this.#phase === "live" && this.#talk.press(down)) this.#send({ type: "hold", down });
  }

  /** Switches push-to-talk. The server need not know: between presses it receives silence. */
  setHoldToTalk(holds: boolean): void {
    if (holds === this.#talk.on) return;
    this.setTalkPressed(false);
    this.#deps.saveHoldToTalk(holds);
    this.#talk.turn(holds);
  }

  /** Switches recording on or off. A call that reconnects is recorded further. */
  setRecorded(on: boolean): void {
    if (this.#phase !== "live") return;
    this.#wantsRecording = on;
    this.#send({ type: "record", on });
  }

  #onPlayed(report: PlayoutReport): void {
    this.#playback.onReport(report);
    this.lips.onReport(report);
    this.#film?.onReport(report);
    this.#playbackPosition = { reply: report.reply, heard: (report.samples * 1000) / OUTPUT_RATE };
  }

  async #dial(): Promise<void> {
    const number = ++this.#connection;
    this.#socket?.close();
    this.#socket = null;
    this.#discardOutput();
    const options = await this.#deps.startOptions();
    if (number !== this.#connection || this.phase === "over") {
      if (typeof options !== "string") options.film?.close();
      return;
    }
    if (typeof options === "string") return this.#end(options);
    this.#conversation = options.conversation;
    this.#film = options.film ?? null;
    const isThis = () => number === this.#connection;
    this.#lastError = "";
    this.#socket = this.#deps.openSocket({
      onOpen: () => {
        if (isThis()) this.#socket?.sendText(startMessage({ ...options, record: this.#wantsRecording }));
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

  /** Discards all output of the lost connection. */
  #discardOutput(): void {
    this.#recorded = false;
    this.#otherVoice = null;
    this.#unit = null;
    this.#playback.reset();
    this.lips.reset();
    this.#loseFilm();
    this.video.onConnectionLost();
    this.#captions = this.#captions.withConnectionLost((reply) => this.heardMs(reply));
    this.#playbackPosition = null;
    this.#approvals.clear();
  }

  /** The page draws the face again. Also where the browser cannot decode the video. */
  #loseFilm(): void {
    this.#film?.close();
    this.#film = null;
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
    this.#phase = this.#phase === "connecting" ? "connecting" : "reconnecting";
    this.#talk.release();
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
      case "recording":
        return this.#onRecording(message.on, message.reason);
      case "voice":
        this.#otherVoice = message.voice;
        return;
      case "mouth":
        return this.lips.add(message.reply, message.keys);
      case "video_segment":
        return this.#film?.add(message.reply, message.segment);
      case "video_idle":
        return this.#film?.add(null, message.segment);
      case "video_mode":
        return message.enabled ? undefined : this.#film?.clear();
      case "interrupt":
        return this.#film?.drop(message.reply);
      case "unit":
        this.#unit = message.unit;
        return;
      case "history":
        return this.#deps.onConversationChanged();
      case "error":
        return this.#onError(message.code, problems().told(message.code, message.message));
      default:
        if (message.type === "reply_done" && message.ending !== "spoken") this.#film?.drop(message.reply);
        this.#updateCaptions(message);
    }
  }

  #setState(state: CallState): void {
    if (this.#phase !== "live") {
      this.#phase = "live";
      this.#film?.begin();
      this.#since = this.#deps.clock.now();
    }
    this.#state = state;
    if (state !== "waiting") this.#queuePosition = null;
  }

  #onRecording(on: boolean, reason: string): void {
    if (this.#recorded && !on && reason !== "stopped") this.#notice.show(recordings().stopped);
    this.#recorded = on;
    if (!on) this.#wantsRecording = false;
  }

  #onError(code: string, sentence: string): void {
    this.#lastError = sentence;
    // The call goes on without pictures.
    if (FRAME_ERRORS.has(code) && this.video.phase !== "off") this.video.refuse(sentence);
    else this.#notice.show(sentence);
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

  #sendPicture(message: ClientMessage): void {
    this.#socket?.sendPicture(JSON.stringify(message));
  }

  /** Ends the call; a problem stays visible until it is dismissed. */
  #end(problem: string, fault: MicrophoneFault | null = null): void {
    if (this.#connection > 0) this.#videoAtEnd = this.video.phase === "off" ? null : this.video.kind;
    this.#phase = "over";
    this.#recorded = false;
    this.#problem = problem;
    this.#fault = fault;
    this.#connection++;
    this.#cancelTimer?.();
    this.#notice.clear();
    this.#queuePosition = null;
    this.#approvals.clear();
    this.#socket?.close();
    this.#socket = null;
    this.#releaseDevices();
  }

  #releaseDevices(): void {
    this.#loseFilm();
    this.sound.close();
    this.video.turnOff();
    this.#releaseScreen?.();
    this.#releaseScreen = null;
    this.#deps.release();
  }
}
