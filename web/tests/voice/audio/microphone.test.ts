import { afterEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { faultOf, listMicrophones, MicrophoneError, openMicrophone } from "../../../src/voice/audio/microphone";

afterEach(() => vi.unstubAllGlobals());

const choice = { device: "", cleaned: true };
const listener = { onFrame: () => {}, onLost: () => {} };

async function fault(): Promise<string> {
  return openMicrophone({} as AudioContext, choice, listener).then(
    () => "",
    (error) => (error instanceof MicrophoneError ? error.fault : String(error)),
  );
}

describe("why there is no microphone", () => {
  it("is derived from the name of the browser's error", () => {
    expect(["NotAllowedError", "NotFoundError", "NotReadableError", "SomethingElse"].map(faultOf)).toEqual(["denied", "none", "busy", "failed"]);
  });

  it("is plain HTTP, before the microphone is requested", async () => {
    vi.stubGlobal("isSecureContext", false);
    expect(await fault()).toBe("insecure");
  });

  it("is that the browser has none to offer", async () => {
    vi.stubGlobal("isSecureContext", true);
    vi.stubGlobal("navigator", {});
    expect(await fault()).toBe("unsupported");
    expect(await listMicrophones()).toEqual([]);
  });

  it("is the browser's error; a chosen microphone that is missing falls back to the default", async () => {
    vi.stubGlobal("isSecureContext", true);
    const requests: unknown[] = [];
    const getUserMedia = async ({ audio }: MediaStreamConstraints) => {
      requests.push((audio as MediaTrackConstraints).deviceId);
      throw Object.assign(new Error(), { name: requests.length === 1 ? "OverconstrainedError" : "NotAllowedError" });
    };
    vi.stubGlobal("navigator", { mediaDevices: { getUserMedia } });
    await expect(openMicrophone({} as AudioContext, { device: "gone", cleaned: false }, listener)).rejects.toMatchObject({ fault: "denied" });
    expect(requests).toEqual([{ exact: "gone" }, undefined]);
  });
});
