import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { CameraError } from "../../../src/capture/camera";
import { MemoryStorage } from "../../../src/settings/storage";
import { CallVideo, type VideoDevices } from "../../../src/voice/video/call_video.svelte";
import { ScreenError } from "../../../src/voice/video/frame_source";
import { FakeClock } from "../../clock";
import { settle } from "../../server";
import { type FakeSource, frameSource } from "./frame_source_stand_in";

let clock: FakeClock;
let storage: MemoryStorage;
let sources: FakeSource[];
let lose: () => void;
let refusal: Error | null;
let open: boolean;
let sent: string[];
let video: CallVideo;

const source = () => sources.at(-1)!;

function opened(made: FakeSource, onLost: () => void): FakeSource {
  if (refusal) throw refusal;
  sources.push(made);
  lose = onLost;
  return made;
}

function devices(): VideoDevices {
  return {
    openCamera: async ({ device, facing }, onLost) => opened(frameSource(device || "front", facing), onLost),
    openScreen: async (onLost) => opened(frameSource(), onLost),
    listCameras: async () => [
      { id: "front", label: "Front" },
      { id: "back", label: "Back" },
    ],
    canShareScreen: true,
    storage,
  };
}

beforeEach(() => {
  [clock, storage] = [new FakeClock(), new MemoryStorage()];
  [sources, sent] = [[], []];
  refusal = null;
  open = true;
  video = new CallVideo(devices(), { isOpen: () => open, buffered: () => 0, send: ({ url }, from) => sent.push(`${from}: ${url}`) }, clock);
});

/** Time passes in steps, so that frames can be taken in between. */
async function pass(milliseconds: number): Promise<void> {
  for (let at = 0; at < milliseconds; at += 100) {
    clock.pass(100);
    await settle();
  }
}

describe("the camera of a call", () => {
  it("is off at first, and sends nothing", async () => {
    await pass(2000);
    expect([video.phase, sources.length, sent]).toEqual(["off", 0, []]);
  });

  it("sends one frame a second, and shows which was the last", async () => {
    await video.turnOn("camera");
    await pass(2500);
    expect(sent).toEqual(["camera: front 1", "camera: front 2", "camera: front 3"]);
    expect([video.sent, video.last?.url, video.stream]).toEqual([3, "front 3", source().stream]);
  });

  it("goes off with its light, and sends nothing more", async () => {
    await video.turnOn("camera");
    await pass(500);
    video.turnOff();
    await pass(3000);
    expect([source().stopped, video.phase, sent.length, clock.pending]).toEqual([true, "off", 1, 0]);
  });

  it("that opens after it was turned off stays off", async () => {
    const opening = video.turnOn("camera");
    expect(video.phase).toBe("opening");
    video.turnOff();
    await opening;
    expect([source().stopped, video.phase]).toEqual([true, "off"]);
  });

  it("sends only while the call takes frames", async () => {
    open = false;
    await video.turnOn("camera");
    await pass(3000);
    expect(source().taken).toBe(0);
    open = true;
    await pass(200);
    expect(sent).toEqual(["camera: front 1"]);
  });

  it("sends nothing while the device delivers nothing", async () => {
    await video.turnOn("camera");
    source().paused = true;
    await pass(3000);
    expect([video.paused, sent]).toEqual([true, []]);
    source().paused = false;
    await pass(200);
    expect([video.paused, sent.length]).toEqual([false, 1]);
  });

  it("goes on after a frame that could not be taken", async () => {
    await video.turnOn("camera");
    source().fails = true;
    await pass(1500);
    source().fails = false;
    await pass(1000);
    expect(sent).toEqual(["camera: front 1"]);
  });
});

describe("a frozen picture", () => {
  it("is shown and sent until it moves again", async () => {
    await video.turnOn("camera");
    await video.freeze();
    expect(video.still?.url).toBe("front 1");
    await pass(2500);
    expect(sent).toEqual(["camera: front 1", "camera: front 1", "camera: front 1"]);
    await video.freeze();
    await pass(1000);
    expect([video.still, sent.at(-1)]).toEqual([null, "camera: front 2"]);
  });

  it("is sent even while the camera is paused", async () => {
    await video.turnOn("camera");
    await video.freeze();
    source().paused = true;
    await pass(500);
    expect(sent).toEqual(["camera: front 1"]);
  });

  it("belongs to one camera", async () => {
    await video.turnOn("camera");
    await video.freeze();
    await video.useCamera("back");
    expect([video.still, sources.map(({ stopped }) => stopped), video.device]).toEqual([null, [true, false], "back"]);
  });
});

describe("the choice", () => {
  it("of the rate holds at once, and for the next call", async () => {
    await video.turnOn("camera");
    video.setRate(4);
    await pass(2100);
    expect(sent.length).toBeGreaterThan(6);
    expect(new CallVideo(devices(), { isOpen: () => true, buffered: () => 0, send: () => {} }, clock).rate).toBe(4);
  });

  it("of the camera is by name on a desk and by turning on a phone", async () => {
    await video.turnOn("camera");
    expect(video.change).toEqual({ kind: "turn", to: "environment" });
    expect(video.mirrored).toBe(true);
    await video.turn("environment");
    expect([video.mirrored, video.change]).toEqual([false, { kind: "turn", to: "user" }]);
  });

  it("of the mirror is the user's once it was made", async () => {
    await video.turnOn("camera");
    video.mirror();
    expect(video.mirrored).toBe(false);
    await video.turn("environment");
    expect(video.mirrored).toBe(false);
    video.mirror();
    expect(video.mirrored).toBe(true);
  });
});

describe("the screen", () => {
  it("takes the place of the camera, unmirrored", async () => {
    await video.turnOn("camera");
    await video.turnOn("screen");
    await pass(200);
    expect([sources.map(({ stopped }) => stopped), video.kind, video.mirrored, sent]).toEqual([[true, false], "screen", false, ["screen: screen 1"]]);
  });

  it("that the user does not choose leaves the camera on", async () => {
    await video.turnOn("camera");
    refusal = new ScreenError(null);
    await video.turnOn("screen");
    expect([video.phase, video.kind, source().stopped]).toEqual(["on", "camera", false]);
    lose();
    expect(video.phase).toBe("failed");
  });

  it("that the user does not choose is no failure", async () => {
    refusal = new ScreenError(null);
    await video.turnOn("screen");
    expect([video.phase, video.problem]).toEqual(["off", ""]);
  });

  it("ends where the browser's own bar ends it", async () => {
    await video.turnOn("screen");
    lose();
    expect([video.phase, source().stopped]).toEqual(["off", true]);
  });
});

describe("without a camera", () => {
  it("a sentence says why", async () => {
    for (const [fault, sentence] of [
      ["denied", /blocked/],
      ["none", /No camera found/],
      ["busy", /Another program/],
    ] as const) {
      refusal = new CameraError(fault);
      await video.turnOn("camera");
      expect(video.phase).toBe("failed");
      expect(video.problem).toMatch(sentence);
    }
    refusal = new ScreenError("denied");
    await video.turnOn("screen");
    expect(video.problem).toMatch(/record the screen/);
    refusal = new Error("x");
    await video.turnOn("screen");
    expect(video.problem).toMatch(/share the screen/);
    video.turnOff();
    expect([video.phase, video.problem]).toEqual(["off", ""]);
  });

  it("that was unplugged a sentence says so", async () => {
    await video.turnOn("camera");
    lose();
    expect([video.phase, video.problem]).toEqual(["failed", "The camera was disconnected. Connect it, then try again."]);
    await pass(2000);
    expect(sent).toEqual([]);
  });

  it("the server's refusal is shown instead of a picture", async () => {
    await video.turnOn("camera");
    video.refuse("The model does not see.");
    expect([video.phase, video.problem, source().stopped]).toEqual(["failed", "The model does not see.", true]);
    // It says so once for each connection.
    await video.turnOn("camera");
    expect([video.phase, video.problem, sources.length]).toEqual(["failed", "The model does not see.", 1]);
    video.onConnectionLost();
    await video.turnOn("camera");
    expect(video.phase).toBe("on");
  });
});
