import { describe, expect, it, vi } from "vitest";

vi.mock("../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { cameraChange, DEFAULT_CAMERA, isMirrored, readCamera, writeCamera } from "../../src/capture/camera_choice";
import { MemoryStorage } from "../../src/settings/storage";

const cameras = [
  { id: "a", label: "Desk" },
  { id: "b", label: "Door" },
];

describe("the choice of a camera", () => {
  it("is remembered on this device", () => {
    const storage = new MemoryStorage();
    expect(readCamera(storage)).toEqual(DEFAULT_CAMERA);
    writeCamera(storage, { device: "a", facing: "environment" });
    expect(readCamera(storage)).toEqual({ device: "a", facing: "environment" });
    storage.put("duologue.camera", "{");
    expect(readCamera(storage)).toEqual(DEFAULT_CAMERA);
  });

  it("is offered only where there are two: turned around on a phone, by name on a desk", () => {
    expect(cameraChange(cameras.slice(1), "user")).toEqual({ kind: "none" });
    expect(cameraChange(cameras, "user")).toEqual({ kind: "turn", to: "environment" });
    expect(cameraChange(cameras, "environment")).toEqual({ kind: "turn", to: "user" });
    expect(cameraChange(cameras, undefined)).toEqual({ kind: "list", cameras });
  });

  it("shows the user as in a mirror, and the world as it is", () => {
    expect([undefined, "user", "environment"].map((facing) => isMirrored(facing as undefined))).toEqual([true, true, false]);
  });
});
