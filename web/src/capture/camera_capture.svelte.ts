// Taking a photo or a clip: the camera is on while it is looked through or recorded from, and at no other time. No DOM.
import type { TextStorage } from "../settings/storage";
import type { Device } from "../voice/audio/microphone";
import type { Clock } from "../wire/transport/clock";
import { type Camera, type CameraChoice, CameraError, type CameraFault, type ClipRecording, type Facing } from "./camera";
import { type CameraChange, cameraChange, readCamera, writeCamera } from "./camera_choice";
import { CLIP_BITS } from "./clip";

export type CaptureKind = "photo" | "video";
/** "taken": there is something to look at, and the camera is off. */
export type CapturePhase = "opening" | "live" | "recording" | "finishing" | "taken" | "failed";

export interface CaptureDependencies {
  readonly openCamera: (choice: CameraChoice, sound: boolean, onLost: () => void) => Promise<Camera>;
  readonly listCameras: () => Promise<readonly Device[]>;
  readonly clock: Clock;
  readonly storage: TextStorage;
  /** Media type of clips; null where the browser records none. */
  readonly clipType: string | null;
  /** Seconds a clip may have. */
  readonly longest: number;
}

/** Milliseconds between two looks at the clock while recording. */
const TICK_MS = 200;

export class CameraCapture {
  readonly #deps: CaptureDependencies;
  #kind = $state<CaptureKind>("photo");
  #phase = $state<CapturePhase>("opening");
  #fault = $state<CameraFault>("failed");
  #camera = $state.raw<Camera | null>(null);
  #cameras = $state.raw<readonly Device[]>([]);
  #taken = $state.raw<Blob | null>(null);
  #seconds = $state(0);
  #recording: ClipRecording | null = null;
  #cancelTick: (() => void) | null = null;
  /** Counts openings: a camera that arrives after another was asked for, or after the end, is turned off. */
  #opening = 0;

  constructor(deps: CaptureDependencies, kind: CaptureKind = "photo") {
    this.#deps = deps;
    this.#kind = deps.clipType === null ? "photo" : kind;
  }

  get kind(): CaptureKind {
    return this.#kind;
  }

  get phase(): CapturePhase {
    return this.#phase;
  }

  /** Why there is no camera, in phase "failed". */
  get fault(): CameraFault {
    return this.#fault;
  }

  /** For the preview; null while the camera is off. */
  get camera(): Camera | null {
    return this.#camera;
  }

  get taken(): Blob | null {
    return this.#taken;
  }

  /** Whole seconds recorded so far. */
  get seconds(): number {
    return this.#seconds;
  }

  get longest(): number {
    return this.#deps.longest;
  }

  get canRecord(): boolean {
    return this.#deps.clipType !== null;
  }

  get change(): CameraChange {
    return cameraChange(this.#cameras, this.#camera?.facing);
  }

  async open(): Promise<void> {
    const opening = this.#release();
    this.#taken = null;
    this.#phase = "opening";
    try {
      const camera = await this.#deps.openCamera(readCamera(this.#deps.storage), this.#kind === "video", () => this.#onLost());
      if (opening !== this.#opening) return camera.stop();
      this.#camera = camera;
      this.#phase = "live";
    } catch (error) {
      if (opening === this.#opening) this.#fail(error instanceof CameraError ? error.fault : "failed");
      return;
    }
    // Only with the permission does the browser tell them all.
    const cameras = await this.#deps.listCameras();
    if (opening === this.#opening) this.#cameras = cameras;
  }

  /** Photo or clip: a clip needs the microphone as well. */
  async setKind(kind: CaptureKind): Promise<void> {
    if (kind === this.#kind || this.#phase === "recording" || this.#phase === "finishing") return;
    this.#kind = kind;
    await this.open();
  }

  async useCamera(device: string): Promise<void> {
    writeCamera(this.#deps.storage, { ...readCamera(this.#deps.storage), device });
    await this.open();
  }

  async turn(facing: Facing): Promise<void> {
    writeCamera(this.#deps.storage, { device: "", facing });
    await this.open();
  }

  /** Takes the photo, starts the clip, or ends it. */
  async press(): Promise<void> {
    if (this.#phase === "recording") return this.#finish();
    if (this.#phase !== "live" || !this.#camera) return;
    if (this.#kind === "video") this.#record(this.#camera);
    else await this.#takePhoto(this.#camera);
  }

  /** Turns everything off. */
  close(): void {
    this.#release();
    this.#taken = null;
  }

  async #takePhoto(camera: Camera): Promise<void> {
    const opening = this.#opening;
    this.#phase = "finishing";
    try {
      const picture = await camera.takePicture();
      if (opening !== this.#opening) return;
      this.#release();
      this.#taken = picture;
      this.#phase = "taken";
    } catch {
      if (opening === this.#opening) this.#fail("failed");
    }
  }

  #record(camera: Camera): void {
    try {
      this.#recording = camera.record(this.#deps.clipType!, CLIP_BITS);
    } catch {
      return this.#fail("failed");
    }
    this.#seconds = 0;
    this.#phase = "recording";
    this.#tick(this.#deps.clock.now());
  }

  #tick(start: number): void {
    const { clock, longest } = this.#deps;
    this.#seconds = Math.min(longest, Math.floor((clock.now() - start) / 1000));
    if (this.#seconds >= longest) void this.#finish();
    else this.#cancelTick = clock.after(TICK_MS, () => this.#tick(start));
  }

  async #finish(): Promise<void> {
    const opening = this.#opening;
    const recording = this.#recording;
    if (!recording) return;
    this.#recording = null;
    this.#cancelTick?.();
    this.#phase = "finishing";
    try {
      const clip = await recording.stop();
      if (opening !== this.#opening) return;
      if (clip.size === 0) return this.#fail("failed");
      this.#release();
      this.#taken = clip;
      this.#phase = "taken";
    } catch {
      if (opening === this.#opening) this.#fail("failed");
    }
  }

  /** It was unplugged: a clip keeps what it has. */
  #onLost(): void {
    if (this.#phase === "recording") void this.#finish();
    else this.#fail("none");
  }

  #fail(fault: CameraFault): void {
    this.#release();
    this.#fault = fault;
    this.#phase = "failed";
  }

  #release(): number {
    this.#cancelTick?.();
    this.#cancelTick = null;
    this.#camera?.stop();
    // The recorder ends with its tracks, and nobody reads what it has.
    this.#recording = null;
    this.#camera = null;
    return ++this.#opening;
  }
}
