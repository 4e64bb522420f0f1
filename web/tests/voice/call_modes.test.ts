import { describe, expect, it } from "vitest";

import { blindness, isOffered, obstacle, offeredKinds, pressedKind } from "../../src/voice/call_modes";
import type { Capabilities, Model } from "../../src/wire/server/server";

const model = (name: string, ...modalities: string[]) => ({ name, modalities }) as unknown as Model;
const READER = model("reader", "text");
const SEER = model("seer", "text", "image");
const title = (name: string) => name.toUpperCase();

function server(changes: Partial<Capabilities> = {}): Capabilities {
  return { models: [READER, SEER], features: { voice: true }, ...changes } as Capabilities;
}

describe("the call button", () => {
  it("offers the kinds that the server and the browser have", () => {
    expect(offeredKinds(server(), true)).toEqual(["voice", "camera", "screen"]);
    expect(offeredKinds(null, false)).toEqual(["voice", "camera"]);
    expect(offeredKinds(server({ apps: { omni: false, audio_duplex: true } }), true)).toEqual(["voice"]);
    expect(offeredKinds(server({ apps: { omni: true, audio_duplex: false } }), true)).toEqual(["camera", "screen"]);
  });

  it("begins a call of the last kind where that is possible, otherwise of the first", () => {
    const kinds = ["voice", "camera", "screen"] as const;
    expect(pressedKind("camera", kinds, () => true)).toBe("camera");
    expect(pressedKind("camera", kinds, (kind) => kind === "voice")).toBe("voice");
    expect(pressedKind("screen", ["voice"], () => true)).toBe("voice");
    expect(pressedKind("nonsense", kinds, () => true)).toBe("voice");
    expect(pressedKind(null, ["camera"], () => false)).toBe("camera");
    expect(pressedKind(null, [], () => true)).toBeNull();
  });
});

describe("a way to call", () => {
  it("is offered until an admin switches it off", () => {
    expect([isOffered("voice", null), isOffered("video", server())]).toEqual([true, true]);
    const apps = { omni: false, audio_duplex: true };
    expect([isOffered("voice", server({ apps })), isOffered("video", server({ apps }))]).toEqual([true, false]);
  });

  it("is worth a try while nothing is known", () => {
    expect(obstacle("video", null, READER, title)).toBe("");
    expect(obstacle("video", server(), { ...READER, modalities: undefined } as unknown as Model, title)).toBe("");
    expect(obstacle("video", server(), null, title)).toBe("");
  });

  it("needs a voice", () => {
    const mute = server({ features: {} });
    expect(obstacle("voice", mute, SEER, title)).toMatch(/Voice isn’t installed/);
    expect(obstacle("video", { ...mute, voice: { state: "failed", detail: "The voice broke." } }, SEER, title)).toBe("The voice broke.");
    expect(obstacle("voice", server(), READER, title)).toBe("");
  });

  it("needs no voice with a model that speaks by itself", () => {
    const standing = { available: true, native: ["seer"], cascade: false };
    const native = server({ modes: { audio_duplex: standing, omni: standing } });
    expect([obstacle("voice", native, SEER, title), obstacle("video", native, SEER, title)]).toEqual(["", ""]);
    expect(obstacle("voice", native, READER, title)).toBe("This model needs a voice on the server for calls. Choose SEER, which speaks by itself.");
  });
});

describe("a model without eyes", () => {
  it("is named, with one that has some", () => {
    expect(blindness(server(), SEER, title)).toBe("");
    expect(blindness(server(), { ...READER, untold: ["image"] }, title)).toBe("");
    expect(obstacle("video", server(), READER, title)).toBe("READER can’t see pictures. Choose a model that can, such as SEER.");
    expect(obstacle("video", server({ models: [READER, { ...SEER, state: "loading" }] }), READER, title)).toBe("READER can’t see pictures. Load a model that can.");
  });
});
