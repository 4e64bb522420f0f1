import { afterEach, describe, expect, it, vi } from "vitest";

vi.mock("../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { CameraError, listCameras, openCamera } from "../../src/capture/camera";

interface FakeTrack {
  kind: string;
  onended: (() => void) | null;
  stopped: boolean;
  stop(): void;
  getSettings(): MediaTrackSettings;
}

function trackOf(kind: string): FakeTrack {
  return { kind, onended: null, stopped: false, stop() { this.stopped = true; }, getSettings: () => ({ deviceId: "a", facingMode: "user" }) };
}

function streamOf(...kinds: string[]): { tracks: FakeTrack[]; getTracks(): FakeTrack[]; getVideoTracks(): FakeTrack[]; getAudioTracks(): FakeTrack[] } {
  const tracks = kinds.map(trackOf);
  const of = (kind: string) => tracks.filter((track) => track.kind === kind);
  return { tracks, getTracks: () => tracks, getVideoTracks: () => of("video"), getAudioTracks: () => of("audio") };
}

/** A browser that answers each request by `answer`; returns what was asked for. */
function browser(answer: (asked: MediaStreamConstraints) => unknown, secure = true): MediaStreamConstraints[] {
  const asked: MediaStreamConstraints[] = [];
  vi.stubGlobal("isSecureContext", secure);
  vi.stubGlobal("navigator", {
    mediaDevices: {
      async getUserMedia(constraints: MediaStreamConstraints) {
        asked.push(constraints);
        const given = answer(constraints);
        if (typeof given === "string") throw Object.assign(new Error(given), { name: given });
        return given;
      },
      enumerateDevices: async () => [
        { kind: "videoinput", deviceId: "a", label: "Desk" },
        { kind: "videoinput", deviceId: "", label: "" },
        { kind: "audioinput", deviceId: "m", label: "" },
      ],
    },
  });
  return asked;
}

const ANY = { device: "", facing: "user" } as const;

afterEach(() => void vi.unstubAllGlobals());

describe("the camera", () => {
  it("is opened without the microphone for photos, and with it for clips", async () => {
    const asked = browser(({ audio }) => streamOf("video", ...(audio ? ["audio"] : [])));
    const photos = await openCamera(ANY, false, () => {});
    const clips = await openCamera(ANY, true, () => {});
    expect([photos.hasSound, clips.hasSound, photos.facing]).toEqual([false, true, "user"]);
    expect(asked.map(({ audio }) => audio)).toEqual([undefined, true]);
  });

  it("films without sound where the microphone is missing or blocked", async () => {
    browser(({ audio }) => (audio ? "NotAllowedError" : streamOf("video")));
    expect((await openCamera(ANY, true, () => {})).hasSound).toBe(false);
  });

  it("that was chosen and is gone is replaced by another", async () => {
    const asked = browser(({ video }) => ("deviceId" in (video as object) ? "OverconstrainedError" : streamOf("video", "audio")));
    const camera = await openCamera({ device: "gone", facing: "user" }, true, () => {});
    expect([camera.hasSound, asked.length]).toEqual([true, 3]);
  });

  it.each([
    ["NotAllowedError", "denied"],
    ["NotFoundError", "none"],
    ["NotReadableError", "busy"],
    ["TypeError", "failed"],
  ])("that is refused with %s is %s", async (name, fault) => {
    browser(() => name);
    await expect(openCamera(ANY, true, () => {})).rejects.toEqual(new CameraError(fault as "denied"));
  });

  it("cannot be had over plain http", async () => {
    browser(() => streamOf("video"), false);
    await expect(openCamera(ANY, false, () => {})).rejects.toMatchObject({ fault: "insecure" });
  });

  it("is turned off with its light, and does not report that as a loss", async () => {
    const stream = streamOf("video", "audio");
    browser(() => stream);
    const lost = vi.fn();
    const camera = await openCamera(ANY, true, lost);
    stream.tracks[0]!.onended!();
    expect(lost).toHaveBeenCalledOnce();
    camera.stop();
    expect(stream.tracks.map(({ stopped, onended }) => [stopped, onended])).toEqual([
      [true, null],
      [true, null],
    ]);
  });

  it("is listed if the browser tells its id", async () => {
    browser(() => null);
    expect(await listCameras()).toEqual([{ id: "a", label: "Desk" }]);
  });
});
