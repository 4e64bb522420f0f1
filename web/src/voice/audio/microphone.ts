// The microphone: requesting it, classifying failures, and its audio as frames.
import captureAddress from "./capture.worklet?worker&url";
import type { CaptureOrder } from "./capture.worklet";
import type { Frame } from "./framer";

/** "insecure": browsers offer it only over HTTPS or from localhost. */
export type MicrophoneFault = "insecure" | "unsupported" | "denied" | "none" | "busy" | "failed";

export interface MicrophoneChoice {
  /** Empty: the browser's default. */
  readonly device: string;
  /** Whether the browser cancels echo, suppresses noise and adjusts the gain. */
  readonly cleaned: boolean;
}

export interface Device {
  readonly id: string;
  /** Empty before permission was granted. */
  readonly label: string;
}

export interface MicrophoneListener {
  onFrame(frame: Frame): void;
  /** It was unplugged or taken away. */
  onLost(): void;
}

export interface Microphone {
  /** Id of the device in use. */
  readonly device: string;
  setMuted(muted: boolean): void;
  stop(): void;
}

export class MicrophoneError extends Error {
  readonly fault: MicrophoneFault;

  constructor(fault: MicrophoneFault) {
    super(fault);
    this.fault = fault;
  }
}

const FAULTS: Readonly<Record<string, MicrophoneFault>> = {
  NotAllowedError: "denied",
  SecurityError: "denied",
  PermissionDeniedError: "denied",
  NotFoundError: "none",
  DevicesNotFoundError: "none",
  OverconstrainedError: "none",
  NotReadableError: "busy",
  TrackStartError: "busy",
  AbortError: "busy",
};

/** Classifies a browser error by its name. */
export function faultOf(name: string): MicrophoneFault {
  return FAULTS[name] ?? "failed";
}

function constraints({ device, cleaned }: MicrophoneChoice): MediaStreamConstraints {
  const audio = { echoCancellation: cleaned, noiseSuppression: cleaned, autoGainControl: cleaned, channelCount: 1 };
  return { audio: device === "" ? audio : { ...audio, deviceId: { exact: device } } };
}

async function streamOf(choice: MicrophoneChoice): Promise<MediaStream> {
  if (!isSecureContext) throw new MicrophoneError("insecure");
  // TypeScript declares mediaDevices as always present, but insecure pages have none.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (!devices?.getUserMedia) throw new MicrophoneError("unsupported");
  try {
    return await devices.getUserMedia(constraints(choice));
  } catch (error) {
    const fault = faultOf((error as Error).name);
    // The chosen device is not connected now: use the default.
    if (fault === "none" && choice.device !== "") return streamOf({ ...choice, device: "" });
    throw new MicrophoneError(fault);
  }
}

/** Throws MicrophoneError. */
export async function openMicrophone(context: AudioContext, choice: MicrophoneChoice, listener: MicrophoneListener): Promise<Microphone> {
  const stream = await streamOf(choice);
  try {
    await context.audioWorklet.addModule(captureAddress);
  } catch {
    for (const track of stream.getTracks()) track.stop();
    throw new MicrophoneError("failed");
  }
  const [track] = stream.getAudioTracks();
  const source = context.createMediaStreamSource(stream);
  const capture = new AudioWorkletNode(context, "duologue-capture", { numberOfOutputs: 1 });
  const send = (order: CaptureOrder) => capture.port.postMessage(order);
  capture.port.onmessage = ({ data }: MessageEvent<Frame>) => listener.onFrame(data);
  // Some browsers do not run a node without an output. This one outputs silence.
  source.connect(capture).connect(context.destination);
  if (track) track.onended = () => listener.onLost();
  return {
    device: track?.getSettings().deviceId ?? "",
    setMuted: (muted) => send({ kind: "mute", muted }),
    stop() {
      if (track) track.onended = null;
      capture.port.onmessage = null;
      send({ kind: "stop" });
      source.disconnect();
      capture.disconnect();
      for (const each of stream.getTracks()) each.stop();
    },
  };
}

/** The available microphones. */
export async function listMicrophones(): Promise<Device[]> {
  const devices = (await (navigator.mediaDevices as MediaDevices | undefined)?.enumerateDevices().catch(() => [])) ?? [];
  return devices.filter(({ kind, deviceId }) => kind === "audioinput" && deviceId !== "").map(({ deviceId, label }) => ({ id: deviceId, label }));
}

/** Calls `onChange` when a device is plugged in or out, until the returned function is called. */
export function watchMicrophones(onChange: () => void): () => void {
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  devices?.addEventListener("devicechange", onChange);
  return () => devices?.removeEventListener("devicechange", onChange);
}
