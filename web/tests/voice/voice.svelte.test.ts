import { beforeEach, describe, expect, it, vi } from "vitest";

let done: string[];
let calls: any[];
let responds = false;

vi.mock("../../src/voice/audio/audio_context", () => ({ openAudioContext: (use: string) => (done.push(`sound ${use}`), { use }) }));
vi.mock("../../src/voice/factory", () => {
  const component = (kind: string, more: object, onEnd: () => void) => {
    const thing = { onEnd, ...more };
    calls.push(thing);
    done.push(kind);
    return thing;
  };
  return {
    createCall: (_context: unknown, _parts: unknown, _video: unknown, onEnd: () => void) => ({
      call: component("call", { conversation: "c1", sendText: (text: string) => (done.push(`type ${text}`), true) }, onEnd),
      start: async () => done.push("ready"),
    }),
    createDictation: (_context: unknown, _parts: unknown, _insert: unknown, onEnd: () => void) => ({
      dictation: component("dictation", { finish: () => done.push("finish"), cancel: () => (done.push("cancel"), onEnd()) }, onEnd),
      start: async () => {},
    }),
    createVoiceMessage: (_context: unknown, _parts: unknown, onEnd: () => void) => ({
      message: component("message", { finish: () => done.push("finish"), cancel: () => (done.push("cancel"), onEnd()) }, onEnd),
      start: async () => {},
    }),
    createReadAloud: (_context: unknown, _parts: unknown, onEnd: () => void) => {
      const reading: any = component("reading", { id: null, stop: () => (done.push("stop"), onEnd()) }, onEnd);
      reading.read = (id: string) => (done.push(`say ${id}`), (reading.id = id));
      reading.follow = (id: string, text: string) => (done.push(`follow ${id} ${text}`), (reading.id = id));
      return reading;
    },
  };
});

import { MemoryStorage } from "../../src/settings/storage";
import { Voice } from "../../src/voice/voice.svelte";
import { settle } from "../server";

let voice: Voice;

const storage = new MemoryStorage();

beforeEach(() => {
  [done, calls] = [[], []];
  voice = new Voice(() => ({ storage, onLoadFailure: () => done.push("missing"), preferences: { page: { voice_response: responds } } }) as never);
});

describe("voice", () => {
  it("creates the AudioContext within the user gesture, and the call once it is loaded", async () => {
    voice.startCall();
    expect(done).toEqual(["sound play-and-record"]);
    voice.startCall();
    await settle();
    expect(done).toEqual(["sound play-and-record", "call", "ready"]);
    expect(voice.call).toBe(calls[0]);
    calls[0].onEnd();
    expect(voice.call).toBe(null);
  });

  it("remembers what the last call began with", async () => {
    expect(voice.lastKind).toBeNull();
    voice.startKind("camera");
    await settle();
    expect([voice.lastKind, calls.length]).toEqual(["camera", 1]);
    expect(storage.get("duologue.call_kind")).toBe("camera");
  });

  it("has one call, which is brought back into sight", async () => {
    voice.startCall();
    await settle();
    voice.callMinimised = true;
    voice.startCall();
    await settle();
    expect([voice.callMinimised, calls.length]).toEqual([false, 1]);
  });

  it("takes what is typed into the call of the same conversation, and no other", async () => {
    expect(voice.typeIntoCall("c1", "hello")).toBe(false);
    voice.startCall();
    await settle();
    expect([voice.typeIntoCall(null, "hello"), voice.typeIntoCall("c2", "hello"), voice.typeIntoCall("c1", "hello")]).toEqual([false, false, true]);
    expect(done.at(-1)).toBe("type hello");
  });

  it("dictates, and ends that by the same press; a call takes its place", async () => {
    voice.dictate(() => {});
    await settle();
    voice.dictate(() => {});
    expect(done.at(-1)).toBe("finish");
    voice.startCall();
    await settle();
    expect(done.slice(3)).toEqual(["cancel", "sound play-and-record", "call", "ready"]);
    voice.dictate(() => {});
    await settle();
    expect(voice.dictation).toBe(null);
  });

  it("records a message, sent by another press", async () => {
    voice.recordMessage();
    await settle();
    expect([done, voice.message]).toEqual([["sound play-and-record", "message"], calls[0]]);
    voice.dictate(() => {});
    voice.recordMessage();
    expect(done.slice(2)).toEqual(["finish"]);
    calls[0].onEnd();
    voice.recordMessage();
    await settle();
    expect(done.slice(3)).toEqual(["sound play-and-record", "message"]);
    voice.startCall();
    await settle();
    expect([voice.message, done[5]]).toEqual([null, "cancel"]);
  });

  it("creates the AudioContext for a reply that will be read aloud within the user gesture", async () => {
    responds = true;
    voice.recordMessage();
    responds = false;
    await settle();
    expect(done).toEqual(["sound playback", "sound play-and-record", "message"]);
  });

  it("reads out, and stops by the same press", async () => {
    voice.toggleReading("m1", "Hello.");
    await settle();
    expect([voice.readingId, done]).toEqual(["m1", ["sound playback", "reading", "say m1"]]);
    voice.toggleReading("m1", "Hello.");
    expect([voice.readingId, done.at(-1)]).toEqual([null, "stop"]);
  });

  it("reads a reply with the prepared AudioContext, and not during a call", async () => {
    voice.prepareSound();
    voice.readAlong("m1", "", false);
    voice.readAlong("m1", "Hello", false);
    voice.readAlong("m1", "Hello there", false);
    await settle();
    expect(done).toEqual(["sound playback", "reading", "follow m1 Hello there"]);
    voice.readAlong("m1", "Hello there.", true);
    expect(done.at(-1)).toBe("follow m1 Hello there.");
    voice.startCall();
    await settle();
    voice.readAlong("m2", "More.", true);
    await settle();
    expect(done.slice(4)).toEqual(["stop", "sound play-and-record", "call", "ready"]);
  });
});
