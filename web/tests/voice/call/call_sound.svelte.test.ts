import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { MicrophoneError, type Microphone, type MicrophoneListener } from "../../../src/voice/audio/microphone";
import type { PlayoutReport } from "../../../src/voice/audio/playout";
import { type CallDevices, CallSound } from "../../../src/voice/call/call_sound.svelte";
import { settle } from "../../server";

let done: string[];
let trouble: string[];
let listener: MicrophoneListener;
let report: (report: PlayoutReport) => void;
let open: (device: string) => Promise<Microphone>;
let openSpeaker: () => Promise<void>;
let heard: number;
let sound: CallSound;

const microphone = (device: string): Microphone => ({ device, setMuted: (muted) => done.push(`mute ${muted}`), stop: () => done.push(`deaf ${device}`) });

beforeEach(() => {
  done = [];
  trouble = [];
  heard = 0;
  open = async (device) => microphone(device);
  openSpeaker = async () => {};
  const devices: CallDevices = {
    microphone: ({ device }, given) => ((listener = given), open(device || "first")),
    async speaker(given) {
      report = given;
      await openSpeaker();
      return { play: (order) => done.push(order.kind), stop: () => done.push("dumb") };
    },
    microphones: async () => [{ id: "first", label: "One" }],
    outputs: { list: async () => [{ id: "box", label: "Box" }], current: () => "box", use: async (device) => device !== "gone" },
    choice: () => ({ device: "", cleaned: true }),
    saveMicrophone: (device) => done.push(`chosen ${device}`),
  };
  sound = new CallSound(devices, { onFrame: (pcm) => (heard += pcm.length), onPlayed: () => done.push("played"), onTrouble: (sentence) => trouble.push(sentence) });
});

describe("the devices of a call", () => {
  it("are opened together and listed", async () => {
    await sound.open();
    await settle();
    expect([sound.microphone, sound.output]).toEqual(["first", "box"]);
    expect([sound.microphones, sound.outputs]).toEqual([[{ id: "first", label: "One" }], [{ id: "box", label: "Box" }]]);
    sound.play({ kind: "begin", reply: 1 });
    expect(done.at(-1)).toBe("begin");
  });

  it("tell how loud both sides are, and hand on what they hear and play", async () => {
    await sound.open();
    listener.onFrame({ pcm: new Int16Array(320), level: 0.3 });
    report({ reply: 1, samples: 480, state: "playing", level: 0.5 } as PlayoutReport);
    expect([heard, done.at(-1), { ...sound.volume }]).toEqual([320, "played", { in: 0.3, out: 0.5 }]);
    sound.fallSilent();
    expect(sound.volume.out).toBe(0);
    sound.close();
    expect(done.slice(-2)).toEqual(["deaf first", "dumb"]);
    expect(sound.volume.in).toBe(0);
  });

  it("stay closed when they open after the end", async () => {
    let ready = () => {};
    openSpeaker = () => new Promise((resolve) => (ready = resolve));
    const opening = sound.open();
    await settle();
    sound.close();
    ready();
    await opening;
    expect(done.slice(-2)).toEqual(["deaf first", "dumb"]);
  });

  it("are silent while muted, and while push-to-talk holds them", async () => {
    await sound.open();
    sound.mute(true);
    sound.hold(true);
    sound.mute(false);
    sound.hold(false);
    expect(done.slice(-4)).toEqual(["mute true", "mute true", "mute true", "mute false"]);
  });

  it("can be others during the call, as silent as the ones before", async () => {
    await sound.open();
    sound.mute(true);
    await sound.useMicrophone("second");
    expect(done.slice(-3)).toEqual(["chosen second", "deaf first", "mute true"]);
    await sound.useOutput("gone");
    expect([sound.microphone, sound.output, trouble.length]).toEqual(["second", "", 1]);
  });

  it("leave only the microphone open that was chosen last", async () => {
    await sound.open();
    const ready = new Map<string, () => void>();
    open = (device) => new Promise((resolve) => ready.set(device, () => resolve(microphone(device))));
    const both = [sound.useMicrophone("slow"), sound.useMicrophone("fast")];
    ready.get("fast")!();
    await settle();
    ready.get("slow")!();
    await Promise.all(both);
    expect([sound.microphone, done.at(-1)]).toEqual(["fast", "deaf slow"]);
  });

  it("that fail during the call are explained", async () => {
    await sound.open();
    open = () => Promise.reject(new MicrophoneError("busy"));
    listener.onLost();
    await settle();
    expect(trouble).toEqual(["Microphone disconnected. Switched to another one.", "Another program is using the microphone. Close it, then try again."]);
  });
});
