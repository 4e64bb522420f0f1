import { afterEach, describe, expect, it, vi } from "vitest";

vi.mock("../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { screenFault, takeScreenshot } from "../../src/capture/screen";
import { capture as words } from "../../src/language/en/chat/capture";

afterEach(() => void vi.unstubAllGlobals());

function refusing(name: string, message: string): void {
  vi.stubGlobal("navigator", { mediaDevices: { getDisplayMedia: async () => Promise.reject(Object.assign(new Error(message), { name })) } });
}

describe("a picture of the screen", () => {
  it("that the user did not want after all is no fault", async () => {
    refusing("NotAllowedError", "Permission denied by user");
    expect(await takeScreenshot([])).toBeNull();
  });

  it("that the system forbids says where to allow it", async () => {
    refusing("NotAllowedError", "Permission denied by system");
    expect(await takeScreenshot([])).toBe(words().screenFaults.denied);
  });

  it("that failed says so", () => {
    expect([screenFault("NotReadableError", ""), screenFault("AbortError", "")]).toEqual(["failed", null]);
  });
});
