import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { MOST_BYTES } from "../../../src/voice/video/frame_size";
import { canShareScreen, openCameraFrames, openScreenFrames, ScreenError } from "../../../src/voice/video/frame_source";

interface FakeTrack {
  kind: string;
  muted: boolean;
  stopped: boolean;
  onended: (() => void) | null;
  stop(): void;
  getSettings(): MediaTrackSettings;
}

let track: FakeTrack;
let refusal: (Error & { name: string }) | null;
/** What is drawn, and how many bytes each picture has. */
let drawn: string[];
let sizes: number[];
let hidden: boolean;

const device = () => {
  if (refusal) throw refusal;
  return { getTracks: () => [track], getVideoTracks: () => [track], getAudioTracks: () => [] };
};

beforeEach(() => {
  track = { kind: "video", muted: false, stopped: false, onended: null, stop: () => (track.stopped = true), getSettings: () => ({ deviceId: "a", facingMode: "environment" }) };
  refusal = null;
  [drawn, sizes] = [[], []];
  hidden = false;
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("navigator", { mediaDevices: { getUserMedia: async () => device(), getDisplayMedia: async () => device() } });
  vi.stubGlobal("document", {
    get hidden() {
      return hidden;
    },
    createElement: (kind: string) => {
      if (kind === "video") return { play: async () => {}, videoWidth: 1280, videoHeight: 720, name: "video" };
      const canvas = { width: 0, height: 0, getContext: () => ({ drawImage: ({ name }: { name: string }) => drawn.push(`${name} ${canvas.width}x${canvas.height}`) }), toBlob: (done: (blob: Blob) => void) => done(new Blob([new Uint8Array(sizes.shift() ?? 3)], { type: "image/jpeg" })) };
      return canvas;
    },
  });
  vi.stubGlobal(
    "FileReader",
    class {
      result = "data:image/jpeg;base64,AAAA";
      onload = () => {};
      readAsDataURL() {
        queueMicrotask(() => this.onload());
      }
    },
  );
});

afterEach(() => void vi.unstubAllGlobals());

describe("a camera", () => {
  it("gives small frames, and says which one it is and whether it delivers any", async () => {
    const source = await openCameraFrames({ device: "", facing: "user" }, () => {});
    expect([source.device, source.facing, source.isPaused()]).toEqual(["a", "environment", false]);
    expect(await source.take()).toMatchObject({ url: "data:image/jpeg;base64,AAAA", width: 1024, height: 576 });
    expect(drawn).toEqual(["video 1024x576"]);
    track.muted = true;
    expect(source.isPaused()).toBe(true);
    source.stop();
    expect(track.stopped).toBe(true);
  });

  it("makes a frame smaller that has too many bytes", async () => {
    const source = await openCameraFrames({ device: "", facing: "user" }, () => {});
    sizes = [4 * MOST_BYTES, 1000];
    expect((await source.take()).width).toBe(460);
    expect(drawn.length).toBe(2);
  });

  it("gives frames of its own where the page is in the background, as far as the browser can", async () => {
    const source = await openCameraFrames({ device: "", facing: "user" }, () => {});
    hidden = true;
    await source.take();
    const closed: string[] = [];
    vi.stubGlobal("ImageCapture", class {
      grabFrame = async () => ({ name: "track", width: 800, height: 600, close: () => closed.push("closed") });
    });
    await source.take();
    vi.stubGlobal("ImageCapture", class {
      grabFrame = async () => Promise.reject(new Error("no frame"));
    });
    await source.take();
    expect(drawn).toEqual(["video 1024x576", "track 800x600", "video 1024x576"]);
    expect(closed).toEqual(["closed"]);
  });
});

describe("a screen", () => {
  it("is no camera, and ends with the browser's own bar", async () => {
    const ended: string[] = [];
    const source = await openScreenFrames(() => ended.push("ended"));
    expect([canShareScreen(), source.device, source.facing]).toEqual([true, "", undefined]);
    track.onended!();
    expect(ended).toEqual(["ended"]);
    source.stop();
    expect([track.stopped, track.onended]).toEqual([true, null]);
  });

  it("that is not shared is either the user's wish or a fault", async () => {
    for (const [message, fault] of [
      ["Permission denied", null],
      ["Permission denied by system", "denied"],
    ] as const) {
      refusal = Object.assign(new Error(message), { name: "NotAllowedError" });
      const error = await openScreenFrames(() => {}).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ScreenError);
      expect((error as ScreenError).fault).toBe(fault);
    }
  });
});
