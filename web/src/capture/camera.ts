// The camera: requesting it, classifying failures, pictures and clips from it.
import { type Device, faultOf, type MicrophoneFault } from "../voice/audio/microphone";
import { pictureOf } from "./picture";

export type CameraFault = MicrophoneFault;
/** Which way the camera of a phone looks. */
export type Facing = "user" | "environment";

export interface CameraChoice {
  /** Empty: the browser's choice, by `facing` where it knows that. */
  readonly device: string;
  readonly facing: Facing;
}

export interface ClipRecording {
  /** Ends the recording. Rejects if the browser could not record. */
  stop(): Promise<Blob>;
}

export interface Camera {
  /** What the preview shows. */
  readonly stream: MediaStream;
  /** Id of the camera in use. */
  readonly device: string;
  /** Undefined where the browser does not know it, as on most desks. */
  readonly facing: Facing | undefined;
  /** Whether clips have sound: the microphone may be missing or blocked although the camera is not. */
  readonly hasSound: boolean;
  /** A JPEG of what it sees now. */
  takePicture(): Promise<Blob>;
  record(type: string, bitsPerSecond: number): ClipRecording;
  /** Turns it off, and its light with it. */
  stop(): void;
}

export class CameraError extends Error {
  readonly fault: CameraFault;

  constructor(fault: CameraFault) {
    super(fault);
    this.fault = fault;
  }
}

/** Whether this browser can open a camera at all; it may still have none. */
export function hasCameras(): boolean {
  // TypeScript declares mediaDevices as always present, but insecure pages have none.
  return (navigator.mediaDevices as MediaDevices | undefined)?.getUserMedia !== undefined;
}

/** Whether clips can be recorded. */
export function canRecord(type: string): boolean {
  return typeof MediaRecorder !== "undefined" && MediaRecorder.isTypeSupported(type);
}

function constraints({ device, facing }: CameraChoice, sound: boolean): MediaStreamConstraints {
  const size = { width: { ideal: 1280 }, height: { ideal: 720 } };
  const video = device === "" ? { ...size, facingMode: { ideal: facing } } : { ...size, deviceId: { exact: device } };
  return sound ? { video, audio: true } : { video };
}

/** What to ask for, in turn: a clip without the microphone rather than no clip; another camera if the chosen one is not connected. */
function attempts(choice: CameraChoice, sound: boolean): readonly (readonly [CameraChoice, boolean])[] {
  const choices = choice.device === "" ? [choice] : [choice, { ...choice, device: "" }];
  return choices.flatMap((each) => (sound ? [[each, true] as const, [each, false] as const] : [[each, false] as const]));
}

async function streamOf(choice: CameraChoice, sound: boolean): Promise<MediaStream> {
  if (!isSecureContext) throw new CameraError("insecure");
  if (!hasCameras()) throw new CameraError("unsupported");
  let fault: CameraFault = "failed";
  for (const [each, withSound] of attempts(choice, sound)) {
    try {
      return await navigator.mediaDevices.getUserMedia(constraints(each, withSound));
    } catch (error) {
      fault = faultOf((error as Error).name);
    }
  }
  throw new CameraError(fault);
}

function stopAll(stream: MediaStream): void {
  for (const track of stream.getTracks()) {
    track.onended = null;
    track.stop();
  }
}

/** Opens it, with the microphone for clips (`sound`). `onLost`: it was unplugged or taken away. Throws CameraError. */
export async function openCamera(choice: CameraChoice, sound: boolean, onLost: () => void): Promise<Camera> {
  const stream = await streamOf(choice, sound);
  const [track] = stream.getVideoTracks();
  if (!track) {
    stopAll(stream);
    throw new CameraError("failed");
  }
  track.onended = onLost;
  const { deviceId = "", facingMode } = track.getSettings();
  return {
    stream,
    device: deviceId,
    facing: facingMode === "user" || facingMode === "environment" ? facingMode : undefined,
    hasSound: stream.getAudioTracks().length > 0,
    takePicture: () => pictureOf(stream, "image/jpeg"),
    record: (type, bitsPerSecond) => recordClip(stream, type, bitsPerSecond),
    stop: () => stopAll(stream),
  };
}

function recordClip(stream: MediaStream, type: string, bitsPerSecond: number): ClipRecording {
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: bitsPerSecond });
  const pieces: Blob[] = [];
  const clip = new Promise<Blob>((resolve, reject) => {
    recorder.ondataavailable = ({ data }) => pieces.push(data);
    recorder.onstop = () => resolve(new Blob(pieces, { type: mediaTypeOf(recorder.mimeType || type) }));
    recorder.onerror = () => reject(new CameraError("failed"));
  });
  // Nobody waits for a recording that is thrown away.
  clip.catch(() => {});
  // In one piece: only then does Chromium write how long the clip is.
  recorder.start();
  return {
    stop() {
      if (recorder.state !== "inactive") recorder.stop();
      return clip;
    },
  };
}

/** Without the codecs, which no server wants to know. */
function mediaTypeOf(type: string): string {
  return type.split(";")[0]!;
}

/** The available cameras. Without permission the browser names none. */
export async function listCameras(): Promise<Device[]> {
  const devices = (await (navigator.mediaDevices as MediaDevices | undefined)?.enumerateDevices().catch(() => [])) ?? [];
  return devices.filter(({ kind, deviceId }) => kind === "videoinput" && deviceId !== "").map(({ deviceId, label }) => ({ id: deviceId, label }));
}
