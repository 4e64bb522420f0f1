import type { FrameSource, VideoFrame } from "../../../src/voice/video/frame_source";

/** A camera whose frames the tests count: "first 1", "first 2". */
export interface FakeSource extends FrameSource {
  taken: number;
  paused: boolean;
  stopped: boolean;
  /** The next frames fail. */
  fails: boolean;
}

export function frameOf(name: string): VideoFrame {
  return { jpeg: new Blob([name]), url: name, width: 640, height: 360 };
}

export function frameSource(device = "", facing?: "user" | "environment"): FakeSource {
  const source: FakeSource = {
    stream: {} as MediaStream,
    device,
    facing,
    taken: 0,
    paused: false,
    stopped: false,
    fails: false,
    isPaused: () => source.paused,
    async take() {
      if (source.fails) throw new Error("no frame");
      return frameOf(`${device || "screen"} ${++source.taken}`);
    },
    stop: () => (source.stopped = true),
  };
  return source;
}
