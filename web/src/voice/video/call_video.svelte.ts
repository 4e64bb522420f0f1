// The picture of a call: camera or screen, on and off, frozen, how often a frame is sent, and what was sent. Used by `Call`,
// which owns the connection. No DOM.
import { CameraError, type CameraChoice, type Facing } from "../../capture/camera";
import { type CameraChange, cameraChange, isMirrored, readCamera, writeCamera } from "../../capture/camera_choice";
import { capture } from "../../language/en/chat/capture";
import { callVideo as words } from "../../language/en/voice/call_video";
import type { TextStorage } from "../../settings/storage";
import type { Clock } from "../../wire/transport/clock";
import type { Device } from "../audio/microphone";
import { FramePacer, type FrameRate } from "./frame_pacer";
import { type FrameSource, ScreenError, type VideoFrame } from "./frame_source";
import { readVideoChoice, writeVideoChoice } from "./video_choice";

export type VideoSource = "camera" | "screen";

/** "failed": `problem` says why. */
export type VideoPhase = "off" | "opening" | "on" | "failed";

export interface VideoDevices {
  readonly openCamera: (choice: CameraChoice, onLost: () => void) => Promise<FrameSource>;
  readonly openScreen: (onLost: () => void) => Promise<FrameSource>;
  readonly listCameras: () => Promise<readonly Device[]>;
  /** False: this browser cannot share a screen. */
  readonly canShareScreen: boolean;
  readonly storage: TextStorage;
}

/** The connection, as far as frames are concerned. */
export interface FrameLine {
  /** Frames may be sent now. */
  readonly isOpen: () => boolean;
  /** Bytes that the network has not taken yet. */
  readonly buffered: () => number;
  readonly send: (frame: VideoFrame, source: VideoSource) => void;
}

/** Milliseconds between two questions to the pacer where no audio arrives that asks it. */
const TICK_MS = 100;

export class CallVideo {
  readonly #devices: VideoDevices;
  readonly #line: FrameLine;
  readonly #clock: Clock;
  readonly #pacer: FramePacer<VideoFrame>;
  #phase = $state<VideoPhase>("off");
  #kind = $state<VideoSource>("camera");
  #problem = $state("");
  #source = $state.raw<FrameSource | null>(null);
  #cameras = $state.raw<readonly Device[]>([]);
  #still = $state.raw<VideoFrame | null>(null);
  #last = $state.raw<VideoFrame | null>(null);
  #sent = $state(0);
  #skipped = $state(0);
  #paused = $state(false);
  #rate = $state<FrameRate>(1);
  #mirrored = $state<boolean | null>(null);
  /** Counts openings: a source that arrives after another was asked for, or after the end, is turned off. */
  #opening = 0;
  #cancelTick: (() => void) | null = null;
  /** What the server said about the frames of this connection: it says so once. */
  #refusal = "";

  constructor(devices: VideoDevices, line: FrameLine, clock: Clock) {
    this.#devices = devices;
    this.#line = line;
    this.#clock = clock;
    ({ rate: this.#rate, mirrored: this.#mirrored } = readVideoChoice(devices.storage));
    this.#pacer = new FramePacer(this.#rate);
  }

  get phase(): VideoPhase {
    return this.#phase;
  }

  /** What is on, being opened, or failed. */
  get kind(): VideoSource {
    return this.#kind;
  }

  /** Why there is no picture, in phase "failed". */
  get problem(): string {
    return this.#problem;
  }

  /** For the self-view. */
  get stream(): MediaStream | null {
    return this.#source?.stream ?? null;
  }

  /** The frame that is shown and sent until it is released. */
  get still(): VideoFrame | null {
    return this.#still;
  }

  /** The frame that was sent last since the picture was turned on. */
  get last(): VideoFrame | null {
    return this.#last;
  }

  /** Frames sent in this call. */
  get sent(): number {
    return this.#sent;
  }

  /** Frames that a slow network had no place for. */
  get skipped(): number {
    return this.#skipped;
  }

  /** The device delivers nothing at the moment, so nothing is sent. */
  get paused(): boolean {
    return this.#paused;
  }

  get rate(): FrameRate {
    return this.#rate;
  }

  /** Whether the self-view is mirrored. */
  get mirrored(): boolean {
    return this.#kind === "camera" && (this.#mirrored ?? isMirrored(this.#source?.facing));
  }

  /** How the user changes the camera. */
  get change(): CameraChange {
    return this.#kind === "camera" ? cameraChange(this.#cameras, this.#source?.facing) : { kind: "none" };
  }

  /** Id of the camera in use. */
  get device(): string {
    return this.#source?.device ?? "";
  }

  get canShareScreen(): boolean {
    return this.#devices.canShareScreen;
  }

  isOn(kind: VideoSource): boolean {
    return this.#kind === kind && (this.#phase === "on" || this.#phase === "opening");
  }

  /** Shows and sends this; the other one is turned off. Call it during a user gesture for the screen. */
  async turnOn(kind: VideoSource): Promise<void> {
    if (this.#refusal !== "") return this.#fail(kind, this.#refusal);
    const opening = ++this.#opening;
    // A camera that is on stays on until the user has chosen a screen, or decided against it.
    if (kind === "camera" || this.#phase !== "on") {
      this.#release();
      [this.#kind, this.#phase, this.#problem] = [kind, "opening", ""];
    }
    let source: FrameSource;
    try {
      source = await this.#open(kind, () => this.#onLost(source));
    } catch (error) {
      if (opening === this.#opening) this.#onFailure(kind, error);
      return;
    }
    if (opening !== this.#opening) return source.stop();
    this.#release();
    this.#begin(kind, source);
    // Only with the permission does the browser tell them all.
    const cameras = await this.#devices.listCameras();
    if (opening === this.#opening) this.#cameras = cameras;
  }

  turnOff(): void {
    this.#opening++;
    this.#release();
    this.#phase = "off";
    this.#problem = "";
  }

  /** The server does not use frames of this connection. */
  refuse(sentence: string): void {
    this.#refusal = sentence;
    if (this.#phase !== "off") this.#fail(this.#kind, sentence);
  }

  /** Keeps the picture as it is now, or lets it move again. */
  async freeze(): Promise<void> {
    const source = this.#source;
    if (this.#still) {
      this.#still = null;
      return;
    }
    const still = await source?.take().catch(() => null);
    if (still && source === this.#source) this.#still = still;
  }

  setRate(rate: FrameRate): void {
    this.#rate = rate;
    this.#pacer.setRate(rate, this.#clock.now());
    this.#save();
  }

  mirror(): void {
    this.#mirrored = !this.mirrored;
    this.#save();
  }

  async useCamera(device: string): Promise<void> {
    writeCamera(this.#devices.storage, { ...readCamera(this.#devices.storage), device });
    await this.turnOn("camera");
  }

  /** A phone's other camera. */
  async turn(facing: Facing): Promise<void> {
    writeCamera(this.#devices.storage, { device: "", facing });
    await this.turnOn("camera");
  }

  /** The connection was lost; frames go on with the next one. */
  onConnectionLost(): void {
    this.#refusal = "";
    this.#pacer.forget();
  }

  /** Takes and sends what is due. Asked by a timer, and with each piece of audio: browsers slow the timers of a page in the
   * background, but not its audio. */
  tick(): void {
    const source = this.#source;
    if (this.#phase !== "on" || !source) return;
    this.#paused = source.isPaused();
    if (!this.#line.isOpen() || (this.#paused && !this.#still)) return;
    const { take, send } = this.#pacer.next(this.#clock.now(), this.#line.buffered());
    if (take) void this.#take(source);
    if (send) this.#send(send);
  }

  async #take(source: FrameSource): Promise<void> {
    const frame = this.#still ?? (await source.take().catch(() => null));
    if (source !== this.#source) return;
    if (!frame) return this.#pacer.missed();
    // What was taken as the picture was frozen is older than the still.
    this.#pacer.add(this.#still ?? frame);
    this.#skipped = this.#pacer.skipped;
    this.tick();
  }

  #send(frame: VideoFrame): void {
    this.#line.send(frame, this.#kind);
    this.#last = frame;
    this.#sent++;
  }

  #begin(kind: VideoSource, source: FrameSource): void {
    this.#source = source;
    [this.#kind, this.#phase, this.#problem] = [kind, "on", ""];
    this.#pacer.start(this.#clock.now());
    this.#wait();
  }

  #wait(): void {
    this.#cancelTick = this.#clock.after(TICK_MS, () => {
      this.tick();
      if (this.#phase === "on") this.#wait();
    });
  }

  #open(kind: VideoSource, onLost: () => void): Promise<FrameSource> {
    return kind === "camera" ? this.#devices.openCamera(readCamera(this.#devices.storage), onLost) : this.#devices.openScreen(onLost);
  }

  #onFailure(kind: VideoSource, error: unknown): void {
    const sentence = sentenceOf(kind, error);
    if (sentence !== null) this.#fail(kind, sentence);
    else if (this.#phase !== "on") this.#phase = "off";
  }

  /** It was unplugged, taken away, or its sharing was ended in the browser's own bar. */
  #onLost(source: FrameSource): void {
    if (source !== this.#source) return;
    if (this.#kind === "camera") this.#fail("camera", words().cameraLost);
    else this.turnOff();
  }

  #fail(kind: VideoSource, sentence: string): void {
    this.turnOff();
    [this.#kind, this.#phase, this.#problem] = [kind, "failed", sentence];
  }

  #release(): void {
    this.#cancelTick?.();
    this.#cancelTick = null;
    this.#pacer.stop();
    this.#source?.stop();
    this.#source = null;
    this.#still = null;
    this.#last = null;
    this.#paused = false;
  }

  #save(): void {
    writeVideoChoice(this.#devices.storage, { rate: this.#rate, mirrored: this.#mirrored });
  }
}

/** Null: the user decided against it. */
function sentenceOf(kind: VideoSource, error: unknown): string | null {
  if (kind === "camera") return capture().faults[error instanceof CameraError ? error.fault : "failed"];
  const fault = error instanceof ScreenError ? error.fault : "failed";
  return fault === null ? null : fault === "failed" ? words().noScreen : capture().screenFaults[fault];
}
