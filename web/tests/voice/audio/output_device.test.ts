import { afterEach, describe, expect, it, vi } from "vitest";

import { MemoryStorage } from "../../../src/settings/storage";
import { canChooseOutput, listOutputs, readOutput, routeTo, writeOutput } from "../../../src/voice/audio/output_device";

afterEach(() => vi.unstubAllGlobals());

const devices = [
  { kind: "audiooutput", deviceId: "default", label: "Default" },
  { kind: "audiooutput", deviceId: "box", label: "Box" },
  { kind: "audioinput", deviceId: "mic", label: "Mic" },
];

function browser(chooses: boolean): void {
  class Sound {}
  if (chooses) Object.assign(Sound.prototype, { setSinkId: () => {} });
  vi.stubGlobal("AudioContext", Sound);
  vi.stubGlobal("navigator", { mediaDevices: { enumerateDevices: async () => devices } });
}

describe("the loudspeakers", () => {
  it("are those of the device, where the browser lets a page choose", async () => {
    browser(true);
    expect([canChooseOutput(), await listOutputs()]).toEqual([true, [{ id: "box", label: "Box" }]]);
    browser(false);
    expect([canChooseOutput(), await listOutputs()]).toEqual([false, []]);
  });

  it("are remembered by this browser", () => {
    const storage = new MemoryStorage();
    expect(readOutput(storage)).toBe("");
    writeOutput(storage, "box");
    expect(readOutput(storage)).toBe("box");
    writeOutput(storage, "");
    expect(storage.get("duologue.loudspeaker")).toBe(null);
  });

  it("receive the audio; a missing one falls back to the default", async () => {
    browser(true);
    const sent: string[] = [];
    const setSinkId = async (id: string) => {
      sent.push(id);
      if (id === "gone") throw new Error();
    };
    const context = { setSinkId } as unknown as AudioContext;
    expect([await routeTo(context, "box"), await routeTo(context, "gone"), sent]).toEqual([true, false, ["box", "gone", ""]]);
    browser(false);
    expect([await routeTo(context, "box"), await routeTo(context, "")]).toEqual([false, true]);
  });
});
