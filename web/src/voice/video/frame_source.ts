// The camera or the screen as a source of frames for a call: opening it, and taking frames as small JPEGs.
import { openCamera } from "../../capture/camera";
import type { CameraChoice, Facing } from "../../capture/camera";
import { type ScreenFault, screenFault } from "../../capture/screen";
import { FRAME_QUALITY, fitted, LONGEST_SIDE, smallerSide } from "./frame_size";

/** A frame as it is sent. */
export interface VideoFrame {
  readonly jpeg: Blob;
  /** The same as a data URL. */
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

export interface FrameSource {
  /** What the self-view shows. */
  readonly stream: MediaStream;
  /** Id of the camera; empty for a screen. */
  readonly device: string;
  readonly facing: Facing | undefined;
  /** It delivers nothing at the moment: phones stop the camera of a page in the background. */
  readonly isPaused: () => boolean;
  /** Rejects if there is no frame. */
  take(): Promise<VideoFrame>;
  stop(): void;
}

/** The screen was not shared. `fault` null: the user did not want to. */
export class ScreenError extends Error {
  readonly fault: ScreenFault | null;

  constructor(fault: ScreenFault | null) {
    super(fault ?? "cancelled");
    this.fault = fault;
  }
}

/** Whether this browser can share a screen; phones cannot. */
export function canShareScreen(): boolean {
  // TypeScript declares mediaDevices as always present, but insecure pages have none.
  return (navigator.mediaDevices as MediaDevices | undefined)?.getDisplayMedia !== undefined;
}

/** Throws CameraError. */
export async function openCameraFrames(choice: CameraChoice, onLost: () => void): Promise<FrameSource> {
  const camera = await openCamera(choice, false, onLost);
  const { device, facing } = camera;
  return sourceOf(camera.stream, { device, facing }, () => camera.stop());
}

/** Asks the user for a screen, a window or a tab. Throws ScreenError. */
export async function openScreenFrames(onLost: () => void): Promise<FrameSource> {
  let stream: MediaStream;
  try {
    // A few frames a second are enough, and leave the processor to what is shown.
    stream = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate: { max: 5 } } });
  } catch (error) {
    const { name, message } = error as Error;
    throw new ScreenError(screenFault(name, message));
  }
  const [track] = stream.getVideoTracks();
  if (track) track.onended = onLost;
  return sourceOf(stream, { device: "", facing: undefined }, () => {
    if (track) track.onended = null;
    for (const each of stream.getTracks()) each.stop();
  });
}

function sourceOf(stream: MediaStream, about: Pick<FrameSource, "device" | "facing">, stop: () => void): FrameSource {
  const [track] = stream.getVideoTracks();
  const video = document.createElement("video");
  video.muted = true;
  video.playsInline = true;
  video.srcObject = stream;
  const playing = video.play();
  // It is stopped before it plays.
  playing.catch(() => {});
  const canvas = document.createElement("canvas");
  return {
    stream,
    ...about,
    isPaused: () => track?.muted ?? true,
    async take() {
      if (document.hidden) {
        const frame = await frameOf(track);
        if (frame) return encoded(canvas, frame, frame).finally(() => frame.close());
      }
      await playing;
      return encoded(canvas, video, { width: video.videoWidth, height: video.videoHeight });
    },
    stop() {
      video.srcObject = null;
      stop();
    },
  };
}

interface FrameGrabber {
  grabFrame(): Promise<ImageBitmap>;
}

/** Milliseconds. */
const GRAB_TIMEOUT = 500;

/** A frame straight from the camera: videos of a page in the background may stand still. Null where the browser cannot, or a
 * screen has not changed. */
function frameOf(track: MediaStreamTrack | undefined): Promise<ImageBitmap | null> {
  const { ImageCapture } = globalThis as unknown as { ImageCapture?: new (track: MediaStreamTrack) => FrameGrabber };
  if (!ImageCapture || !track) return Promise.resolve(null);
  return new Promise((resolve) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      resolve(null);
    }, GRAB_TIMEOUT);
    new ImageCapture(track).grabFrame().then(
      (frame) => {
        clearTimeout(timer);
        if (late) frame.close();
        else resolve(frame);
      },
      () => {
        clearTimeout(timer);
        resolve(null);
      },
    );
  });
}

async function encoded(canvas: HTMLCanvasElement, picture: CanvasImageSource, whole: { readonly width: number; readonly height: number }): Promise<VideoFrame> {
  let longest: number | null = LONGEST_SIDE;
  for (;;) {
    const size = fitted(whole, longest);
    const pen = canvas.getContext("2d");
    if (!pen || whole.width === 0) throw new Error("no frame");
    [canvas.width, canvas.height] = [size.width, size.height];
    pen.drawImage(picture, 0, 0, size.width, size.height);
    const jpeg = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", FRAME_QUALITY));
    if (!jpeg) throw new Error("no picture");
    longest = smallerSide(size, jpeg.size);
    if (longest === null) return { jpeg, url: await dataUrl(jpeg), ...size };
  }
}

function dataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error("unreadable"));
    reader.readAsDataURL(blob);
  });
}
