import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { type MicrophoneListener, NoMicrophone } from "../../../src/voice/audio/microphone";
import { Utterance } from "../../../src/voice/dictation/utterance.svelte";
import type { Answer } from "../../../src/wire/transport/http";
import { FakeClock } from "../../clock";
import { calm } from "../../server";

let clock: FakeClock;
let listener: MicrophoneListener;
let heard: Answer<{ text: string }>;
let asked: number;
let hears: boolean;
let refusal: string;
let done: string[];
let denied: NoMicrophone | null;
let utterance: Utterance;

beforeEach(() => {
  [clock, asked, hears, refusal, done, denied] = [new FakeClock(), 0, false, "", [], null];
  heard = { kind: "ok", value: { text: "hello there" } };
  utterance = new Utterance({
    async microphone(given) {
      if (denied) throw denied;
      listener = given;
      return { device: "", mute: () => {}, stop: () => done.push("deaf") };
    },
    transcribe: async () => (asked++, heard),
    clock,
    reportProblem: (sentence) => done.push(sentence),
    hears: () => hears,
    async send(text, recording) {
      if (refusal) return refusal;
      done.push(`sent ${text}${recording ? ` with ${recording.length} bytes` : ""}`);
      return "";
    },
    ended: () => done.push("ended"),
  });
});

function hear(milliseconds: number, level: number): void {
  for (let at = 0; at < milliseconds; at += 20) listener.heard({ pcm: new Int16Array(320), level });
  clock.pass(milliseconds);
}

const [VOICE, ROOM] = [0.1, 0.001];

describe("a spoken message", () => {
  it("is sent as its text when the button is let go", async () => {
    await utterance.begin();
    expect([utterance.phase, utterance.held]).toEqual(["recording", true]);
    hear(3000, VOICE);
    expect(utterance.seconds).toBe(3);
    utterance.release();
    expect([utterance.phase, done]).toEqual(["sending", ["deaf"]]);
    await calm();
    expect(done.slice(1)).toEqual(["sent hello there", "ended"]);
  });

  it("takes its sound along where the model hears, and goes without text if need be", async () => {
    hears = true;
    heard = { kind: "ok", value: { text: "" } };
    await utterance.begin();
    hear(1000, VOICE);
    utterance.release();
    await calm();
    expect(done).toContain(`sent  with ${44 + 32_000} bytes`);
  });

  it("is not ended by silence while the button is held", async () => {
    await utterance.begin();
    hear(1000, VOICE);
    hear(20_000, ROOM);
    expect(utterance.phase).toBe("recording");
  });

  it("goes on hands-free after a mere press, and silence sends it", async () => {
    await utterance.begin();
    clock.pass(200);
    utterance.release();
    expect([utterance.phase, utterance.held]).toEqual(["recording", false]);
    hear(2000, ROOM);
    hear(1000, VOICE);
    hear(1200, ROOM);
    hear(500, VOICE);
    hear(1400, ROOM);
    expect(utterance.phase).toBe("recording");
    hear(200, ROOM);
    await calm();
    expect(done).toContain("sent hello there hello there");
  });

  it("that is let go before the browser gave the microphone goes on hands-free", async () => {
    const opened = utterance.begin();
    clock.pass(5000);
    utterance.release();
    await opened;
    expect([utterance.phase, utterance.held]).toEqual(["recording", false]);
  });

  it("hands-free in which nothing is said is not sent, and says so", async () => {
    await utterance.begin();
    utterance.free();
    hear(10_000, ROOM);
    await calm();
    expect(done).toEqual([expect.stringContaining("Nothing was heard"), "deaf", "ended"]);
    expect(asked).toBe(0);
  });

  it("slid away is thrown away, unless the pointer comes back", async () => {
    await utterance.begin();
    hear(1000, VOICE);
    utterance.slide(true);
    expect(utterance.away).toBe(true);
    utterance.slide(false);
    expect(utterance.away).toBe(false);
    utterance.slide(true);
    utterance.release();
    await calm();
    expect(done).toEqual(["deaf", "ended"]);
  });

  it("is written down though it was too short to be told from silence", async () => {
    await utterance.begin();
    hear(400, ROOM);
    utterance.release();
    await calm();
    expect([asked, done[1]]).toEqual([1, "sent hello there"]);
  });

  it("that cannot be written down or sent is kept, says why, and is tried again from the whole", async () => {
    heard = { kind: "refused", message: "No ears.", code: "", status: 503 };
    await utterance.begin();
    hear(1000, VOICE);
    utterance.release();
    await calm();
    expect([utterance.phase, utterance.problem]).toEqual(["failed", "No ears."]);
    heard = { kind: "ok", value: { text: "now" } };
    refusal = "Not now.";
    utterance.retry();
    await calm();
    expect([utterance.phase, utterance.problem]).toEqual(["failed", "Not now."]);
    refusal = "";
    utterance.retry();
    await calm();
    expect(done.slice(1)).toEqual(["sent now", "ended"]);
  });

  it("says where nothing was understood, and sends nothing", async () => {
    heard = { kind: "ok", value: { text: " " } };
    await utterance.begin();
    hear(1000, VOICE);
    utterance.release();
    await calm();
    expect([utterance.phase, utterance.problem]).toEqual(["failed", "Nothing was understood."]);
    utterance.cancel();
    expect(done.at(-1)).toBe("ended");
  });

  it("ends by itself after five minutes, and is sent", async () => {
    await utterance.begin();
    hear(1000, VOICE);
    clock.pass(5 * 60_000);
    await calm();
    expect(done).toContain("sent hello there");
  });

  it("says why there is no microphone", async () => {
    denied = new NoMicrophone("insecure");
    await utterance.begin();
    expect(done[0]).toContain("--tls");
    expect(done.at(-1)).toBe("ended");
  });
});
