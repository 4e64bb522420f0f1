import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { type Camera, type CameraChoice, CameraError } from "../../src/capture/camera";
import { CameraCapture, type CaptureKind } from "../../src/capture/camera_capture.svelte";
import { MemoryStorage } from "../../src/settings/storage";
import { FakeClock } from "../clock";
import { settle } from "../server";

interface FakeCamera extends Camera {
  on: boolean;
  lose(): void;
}

const PICTURE = new Blob(["picture"], { type: "image/jpeg" });
let clock: FakeClock;
let opened: { camera: FakeCamera; choice: CameraChoice; sound: boolean }[];
let fault: CameraError | null;
/** What a recording ends with. */
let clip: () => Promise<Blob>;
let gate: Promise<void>;

function capture(kind: CaptureKind = "photo", clipType: string | null = "video/webm"): CameraCapture {
  return new CameraCapture(
    {
      async openCamera(choice, sound, onLost) {
        await gate;
        if (fault) throw fault;
        const camera: FakeCamera = {
          on: true,
          stream: {} as MediaStream,
          device: choice.device || "a",
          facing: undefined,
          hasSound: sound,
          takePicture: async () => PICTURE,
          record: () => ({ stop: () => clip() }),
          stop: () => (camera.on = false),
          lose: onLost,
        };
        opened.push({ camera, choice, sound });
        return camera;
      },
      listCameras: async () => [
        { id: "a", label: "Desk" },
        { id: "b", label: "Door" },
      ],
      clock,
      storage: new MemoryStorage(),
      clipType,
      longest: 180,
    },
    kind,
  );
}

const on = () => opened.map(({ camera }) => camera.on);

beforeEach(() => {
  [clock, opened, fault, gate] = [new FakeClock(), [], null, Promise.resolve()];
  clip = async () => new Blob(["clip"], { type: "video/webm" });
});

describe("the camera of the composer", () => {
  it("takes a photo, and is off as soon as there is one", async () => {
    const camera = capture();
    await camera.open();
    expect([camera.phase, on()]).toEqual(["live", [true]]);
    await camera.press();
    expect([camera.phase, camera.taken, camera.camera, on()]).toEqual(["taken", PICTURE, null, [false]]);
  });

  it("takes another photo", async () => {
    const camera = capture();
    await camera.open();
    await camera.press();
    await camera.open();
    expect([camera.phase, camera.taken, on()]).toEqual(["live", null, [false, true]]);
  });

  it("is off when it is left, whatever it was doing", async () => {
    for (const kind of ["photo", "video"] as const) {
      const camera = capture(kind);
      await camera.open();
      if (kind === "video") await camera.press();
      camera.close();
    }
    clock.pass(10_000);
    expect([on(), clock.pending]).toEqual([[false, false], 0]);
  });

  it("is off if it opens after it was left", async () => {
    let open = () => {};
    gate = new Promise((resolve) => (open = resolve));
    const camera = capture();
    const opening = camera.open();
    camera.close();
    open();
    await opening;
    expect([on(), camera.camera]).toEqual([[false], null]);
  });

  it("records until the second press, and counts the seconds", async () => {
    const camera = capture("video");
    await camera.open();
    await camera.press();
    clock.pass(7300);
    expect([camera.phase, camera.seconds]).toEqual(["recording", 7]);
    await camera.press();
    expect([camera.phase, camera.taken?.size, on(), clock.pending]).toEqual(["taken", 4, [false], 0]);
  });

  it("stops recording by itself at the longest time", async () => {
    const camera = capture("video");
    await camera.open();
    await camera.press();
    clock.pass(180_000);
    await settle();
    expect([camera.phase, camera.seconds, on()]).toEqual(["taken", 180, [false]]);
  });

  it("keeps what was recorded when it is unplugged, and says so when nothing was", async () => {
    const camera = capture("video");
    await camera.open();
    await camera.press();
    opened[0]!.camera.lose();
    await settle();
    expect(camera.phase).toBe("taken");
    await camera.open();
    opened[1]!.camera.lose();
    expect([camera.phase, camera.fault, on()]).toEqual(["failed", "none", [false, false]]);
  });

  it("says why it cannot be had, and can be tried again", async () => {
    fault = new CameraError("busy");
    const camera = capture();
    await camera.open();
    expect([camera.phase, camera.fault]).toEqual(["failed", "busy"]);
    fault = null;
    await camera.open();
    expect(camera.phase).toBe("live");
  });

  it("says that a recording failed", async () => {
    clip = () => Promise.reject(new CameraError("failed"));
    const camera = capture("video");
    await camera.open();
    await camera.press();
    await camera.press();
    expect([camera.phase, camera.fault, on()]).toEqual(["failed", "failed", [false]]);
  });

  it("says that an empty recording failed", async () => {
    clip = async () => new Blob([]);
    const camera = capture("video");
    await camera.open();
    await camera.press();
    await camera.press();
    expect([camera.phase, camera.taken]).toEqual(["failed", null]);
  });

  it("asks for the microphone only for clips, and changes nothing while it records", async () => {
    const camera = capture();
    await camera.open();
    await camera.setKind("video");
    expect([opened.map(({ sound }) => sound), on()]).toEqual([
      [false, true],
      [false, true],
    ]);
    await camera.press();
    await camera.setKind("photo");
    expect([camera.kind, camera.phase]).toEqual(["video", "recording"]);
  });

  it("can be another one, which is remembered", async () => {
    const camera = capture();
    await camera.open();
    await settle();
    expect(camera.change.kind).toBe("list");
    await camera.useCamera("b");
    await camera.turn("environment");
    expect([opened.map(({ choice }) => choice), on()]).toEqual([
      [
        { device: "", facing: "user" },
        { device: "b", facing: "user" },
        { device: "", facing: "environment" },
      ],
      [false, false, true],
    ]);
  });

  it("takes photos only, where the browser records no clips", () => {
    const camera = capture("video", null);
    expect([camera.kind, camera.canRecord]).toEqual(["photo", false]);
  });
});
