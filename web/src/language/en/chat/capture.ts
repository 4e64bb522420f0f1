import type { CameraFault } from "../../../capture/camera";
import type { CaptureKind } from "../../../capture/camera_capture.svelte";
import type { ScreenFault } from "../../../capture/screen";
import { localised } from "../../language.svelte";

const faults: Readonly<Record<CameraFault, string>> = {
  insecure: "Browsers allow the camera only over https or on the same machine. Start the server with duologue serve --tls and open its https address.",
  unsupported: "This browser doesn’t support cameras.",
  denied: "Camera access is blocked. Allow it in your browser’s site settings, then try again.",
  none: "No camera found. Connect one, then try again.",
  busy: "Another program is using the camera. Close it, then try again.",
  failed: "Couldn’t start the camera.",
};

const screenFaults: Readonly<Record<ScreenFault, string>> = {
  denied: "Your system doesn’t let the browser record the screen. Allow it in the system’s privacy settings.",
  failed: "Couldn’t take a picture of the screen.",
};

const kinds: Readonly<Record<CaptureKind, string>> = { photo: "Photo", video: "Video" };

const english = {
  camera: "Camera",
  faults,
  screenFaults,
  kind: "What to take",
  kinds,
  opening: "Waiting for camera access",
  preview: "Camera preview",
  chooseCamera: "Which camera",
  cameraNumber: (number: number) => `Camera ${number}`,
  turn: "Turn camera around",
  takePhoto: "Take photo",
  startRecording: "Start recording",
  stopRecording: "Stop recording",
  recording: "Recording",
  of: (now: string, most: string) => `${now} of ${most}`,
  silent: "No microphone, so the video has no sound.",
  tryAgain: "Try again",
  again: { photo: "Take again", video: "Record again" },
  use: { photo: "Use photo", video: "Use video" },
  taken: { photo: "Your photo", video: "Your video" },

  recordSound: "Record sound",
  soundHint: (most: string) => `Music, a lecture, a voice: up to ${most}. You can listen to it before you send it.`,
  openingMicrophone: "Waiting for microphone access",
  recordAgain: "Record again",
  useSound: "Use recording",
  takenSound: "Your recording",

  /** Names of files. */
  names: { photo: "Photo", video: "Video", sound: "Recording", screen: "Screenshot" },
};

export type CaptureWords = typeof english;

export const capture = (): CaptureWords => localised("capture", english);
