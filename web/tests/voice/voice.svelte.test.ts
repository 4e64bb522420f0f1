import { beforeEach, describe, expect, it, vi } from "vitest";

let done: string[];
let calls: any[];
let responds = false;

vi.mock("../../src/voice/audio/context", () => ({ openSound: (use: string) => (done.push(`sound ${use}`), { use }) }));
vi.mock("../../src/voice/beginnings", () => {
  const made = (kind: string, more: object, gone: () => void) => {
    const thing = { gone, ...more };
    calls.push(thing);
    done.push(kind);
    return thing;
  };
  return {
    beginCall: (_context: unknown, _parts: unknown, gone: () => void) => ({
      call: made("call", { conversation: "c1", type: (text: string) => (done.push(`type ${text}`), true) }, gone),
      ready: async () => done.push("ready"),
    }),
    beginDictation: (_context: unknown, _parts: unknown, _insert: unknown, gone: () => void) => ({
      dictation: made("dictation", { finish: () => done.push("finish"), cancel: () => (done.push("cancel"), gone()) }, gone),
      ready: async () => {},
    }),
    beginUtterance: (_context: unknown, _parts: unknown, gone: () => void) => ({
      utterance: made("utterance", { free: () => done.push("free"), finish: () => done.push("finish"), cancel: () => (done.push("cancel"), gone()) }, gone),
      ready: async () => {},
    }),
    beginReading: (_context: unknown, _parts: unknown, gone: () => void) => {
      const reading: any = made("reading", { id: null, stop: () => (done.push("stop"), gone()) }, gone);
      reading.say = (id: string) => (done.push(`say ${id}`), (reading.id = id));
      reading.follow = (id: string, text: string) => (done.push(`follow ${id} ${text}`), (reading.id = id));
      return reading;
    },
  };
});

import { Voice } from "../../src/voice/voice.svelte";
import { calm } from "../server";

let voice: Voice;

beforeEach(() => {
  [done, calls] = [[], []];
  voice = new Voice(() => ({ missing: () => done.push("missing"), preferences: { page: { voice_response: responds } } }) as never);
});

describe("voice", () => {
  it("begins the browser's sound in the press, and the rest when it has come", async () => {
    voice.begin();
    expect(done).toEqual(["sound play-and-record"]);
    voice.begin();
    await calm();
    expect(done).toEqual(["sound play-and-record", "call", "ready"]);
    expect(voice.call).toBe(calls[0]);
    calls[0].gone();
    expect(voice.call).toBe(null);
  });

  it("has one call, which is brought back into sight", async () => {
    voice.begin();
    await calm();
    voice.small = true;
    voice.begin();
    await calm();
    expect([voice.small, calls.length]).toEqual([false, 1]);
  });

  it("takes what is typed into the call of the same conversation, and no other", async () => {
    expect(voice.type("c1", "hello")).toBe(false);
    voice.begin();
    await calm();
    expect([voice.type(null, "hello"), voice.type("c2", "hello"), voice.type("c1", "hello")]).toEqual([false, false, true]);
    expect(done.at(-1)).toBe("type hello");
  });

  it("dictates, and ends that by the same press; a call takes its place", async () => {
    voice.dictate(() => {});
    await calm();
    voice.dictate(() => {});
    expect(done.at(-1)).toBe("finish");
    voice.begin();
    await calm();
    expect(done.slice(3)).toEqual(["cancel", "sound play-and-record", "call", "ready"]);
    voice.dictate(() => {});
    await calm();
    expect(voice.dictation).toBe(null);
  });

  it("speaks a message: held while the button is down, else hands-free, and sent by another press", async () => {
    voice.speak(() => true);
    await calm();
    expect([done, voice.utterance]).toEqual([["sound play-and-record", "utterance"], calls[0]]);
    voice.dictate(() => {});
    voice.speak();
    expect(done.slice(2)).toEqual(["finish"]);
    calls[0].gone();
    voice.speak();
    await calm();
    expect(done.slice(3)).toEqual(["sound play-and-record", "utterance", "free"]);
    voice.begin();
    await calm();
    expect([voice.utterance, done[6]]).toEqual([null, "cancel"]);
  });

  it("begins the sound of a reply that will be read out in the press that asks for it by voice", async () => {
    responds = true;
    voice.speak();
    responds = false;
    await calm();
    expect(done).toEqual(["sound playback", "sound play-and-record", "utterance", "free"]);
  });

  it("reads out, and stops by the same press", async () => {
    voice.readOut("m1", "Hello.");
    await calm();
    expect([voice.read, done]).toEqual(["m1", ["sound playback", "reading", "say m1"]]);
    voice.readOut("m1", "Hello.");
    expect([voice.read, done.at(-1)]).toEqual([null, "stop"]);
  });

  it("reads a reply with the sound that was begun when it was asked for, and not during a call", async () => {
    voice.warm();
    voice.follow("m1", "", false);
    voice.follow("m1", "Hello", false);
    voice.follow("m1", "Hello there", false);
    await calm();
    expect(done).toEqual(["sound playback", "reading", "follow m1 Hello there"]);
    voice.follow("m1", "Hello there.", true);
    expect(done.at(-1)).toBe("follow m1 Hello there.");
    voice.begin();
    await calm();
    voice.follow("m2", "More.", true);
    await calm();
    expect(done.slice(4)).toEqual(["stop", "sound play-and-record", "call", "ready"]);
  });
});
