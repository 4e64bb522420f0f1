import type { VideoSource } from "../../../voice/video/call_video.svelte";
import { localised } from "../../language.svelte";

const shown: Readonly<Record<VideoSource, string>> = { camera: "Your camera", screen: "Your screen" };
const opening: Readonly<Record<VideoSource, string>> = { camera: "Waiting for camera access", screen: "Choose what to share" };

const english = {
  shown,
  opening,
  on: { camera: "Turn camera on", screen: "Share screen" },
  off: { camera: "Turn camera off", screen: "Stop sharing screen" },
  freeze: "Freeze picture",
  unfreeze: "Unfreeze picture",
  frozen: "Frozen",
  paused: "Paused by the browser. Nothing is sent.",
  options: "Picture options",
  rate: "Frames sent",
  perSecond: (frames: number) => (frames === 1 ? "1 per second" : `${frames} per second`),
  mirror: "Mirror my view",
  mirrorDetail: "The model sees it unmirrored.",
  cameraLost: "The camera was disconnected. Connect it, then try again.",
  noScreen: "Couldn’t share the screen.",
  without: "Go on without",

  sent: (frames: number) => (frames === 1 ? "1 frame sent" : `${frames} frames sent`),
  nothingSent: "Nothing sent yet",
  details: "What was sent",
  lastFrame: "Last frame that was sent",
  sentSoFar: "Sent",
  frames: (frames: number) => (frames === 1 ? "1 frame" : `${frames} frames`),
  size: "Size",
  skipped: "Skipped",
  skippedFrames: (frames: number) => (frames === 1 ? "1 frame, because the connection is slow" : `${frames} frames, because the connection is slow`),
  cached: "Context used",
  late: "Response time",
};

export type CallVideoWords = typeof english;

export const callVideo = (): CallVideoWords => localised("callVideo", english);
