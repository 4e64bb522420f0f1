// The microphone: asking for it, saying in which of a few ways it cannot be had, and its sound as frames. Owns the
// browser's side of it; knows no call.
import captureAddress from "./capture.worklet?worker&url";
import type { CaptureOrder } from "./capture.worklet";
import type { Frame } from "./framer";

/** "insecure": browsers give it only to pages that came over https, or from this machine. */
export type MicrophoneFault = "insecure" | "unsupported" | "denied" | "none" | "busy" | "failed";

export interface MicrophoneChoice {
  /** Empty: the browser's own choice. */
  readonly device: string;
  /** Whether the browser takes away echo and noise, and evens out how loud it is. */
  readonly cleaned: boolean;
}

export interface Device {
  readonly id: string;
  /** Empty as long as the browser does not tell. */
  readonly label: string;
}

export interface MicrophoneListener {
  onFrame(frame: Frame): void;
  /** It was unplugged, or taken away. */
  onLost(): void;
}

export interface Microphone {
  /** The device it is. */
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

/** Which of them an error of the browser is, by its name. */
export function faultOf(name: string): MicrophoneFault {
  return FAULTS[name] ?? "failed";
}

function constraints({ device, cleaned }: MicrophoneChoice): MediaStreamConstraints {
  const audio = { echoCancellation: cleaned, noiseSuppression: cleaned, autoGainControl: cleaned, channelCount: 1 };
  return { audio: device === "" ? audio : { ...audio, deviceId: { exact: device } } };
}

async function streamOf(choice: MicrophoneChoice): Promise<MediaStream> {
  if (!isSecureContext) throw new MicrophoneError("insecure");
  // Not every browser that has no microphone says so by a type.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (!devices?.getUserMedia) throw new MicrophoneError("unsupported");
  try {
    return await devices.getUserMedia(constraints(choice));
  } catch (error) {
    const fault = faultOf((error as Error).name);
    // The one that was chosen once is not there today.
    if (fault === "none" && choice.device !== "") return streamOf({ ...choice, device: "" });
    throw new MicrophoneError(fault);
  }
}

/** Raises NoMicrophone. */
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
  // A node that leads nowhere is not run by every browser. What it gives is silence.
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

/** The microphones there are. */
export async function listMicrophones(): Promise<Device[]> {
  const devices = (await (navigator.mediaDevices as MediaDevices | undefined)?.enumerateDevices().catch(() => [])) ?? [];
  return devices.filter(({ kind, deviceId }) => kind === "audioinput" && deviceId !== "").map(({ deviceId, label }) => ({ id: deviceId, label }));
}

/** `changed` when one was plugged in or out; the answer ends that. */
export function watchMicrophones(onChange: () => void): () => void {
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  devices?.addEventListener("devicechange", onChange);
  return () => devices?.removeEventListener("devicechange", onChange);
}
