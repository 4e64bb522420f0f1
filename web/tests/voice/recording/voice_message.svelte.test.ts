import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { MicrophoneError, type MicrophoneListener } from "../../../src/voice/audio/microphone";
import { VoiceMessage } from "../../../src/voice/recording/voice_message.svelte";
import type { Answer } from "../../../src/wire/transport/http";
import { FakeClock } from "../../clock";
import { settle } from "../../server";

let clock: FakeClock;
let listener: MicrophoneListener;
let heard: Answer<{ text: string }>;
let requests: number;
let hears: boolean;
let refusal: string;
let done: string[];
let denied: MicrophoneError | null;
let message: VoiceMessage;

beforeEach(() => {
  [clock, requests, hears, refusal, done, denied] = [new FakeClock(), 0, false, "", [], null];
  heard = { kind: "ok", value: { text: "hello there" } };
  message = new VoiceMessage({
    async microphone(given) {
      if (denied) throw denied;
      listener = given;
      return { device: "", setMuted: () => {}, stop: () => done.push("deaf") };
    },
    transcribe: async () => (requests++, heard),
    clock,
    reportProblem: (sentence) => done.push(sentence),
    acceptsAudio: () => hears,
    async send(text, recording) {
      if (refusal) return refusal;
      done.push(`sent ${text}${recording ? ` with ${recording.length} bytes` : ""}`);
      return "";
    },
    onEnd: () => done.push("ended"),
  });
});

function hear(milliseconds: number, level: number): void {
  for (let at = 0; at < milliseconds; at += 20) listener.onFrame({ pcm: new Int16Array(320), level });
  clock.pass(milliseconds);
}

const [VOICE, ROOM] = [0.1, 0.001];

describe("a spoken message", () => {
  it("is sent as text on request", async () => {
    await message.begin();
    expect(message.phase).toBe("recording");
    hear(3000, VOICE);
    expect(message.seconds).toBe(3);
    message.finish();
    expect([message.phase, done]).toEqual(["sending", ["deaf"]]);
    await settle();
    expect(done.slice(1)).toEqual(["sent hello there", "ended"]);
  });

  it("includes the recording if the model accepts audio, even without text", async () => {
    hears = true;
    heard = { kind: "ok", value: { text: "" } };
    await message.begin();
    hear(1000, VOICE);
    message.finish();
    await settle();
    expect(done).toContain(`sent  with ${44 + 32_000} bytes`);
  });

  it("is sent on silence", async () => {
    await message.begin();
    hear(2000, ROOM);
    hear(1000, VOICE);
    hear(1200, ROOM);
    hear(500, VOICE);
    hear(1400, ROOM);
    expect(message.phase).toBe("recording");
    hear(200, ROOM);
    await settle();
    expect(done).toContain("sent hello there hello there");
  });

  it("without speech is discarded with a notice", async () => {
    await message.begin();
    hear(10_000, ROOM);
    await settle();
    expect(done).toEqual([expect.stringContaining("No speech heard"), "deaf", "ended"]);
    expect(requests).toBe(0);
  });

  it("is transcribed even if too short to be recognised as speech", async () => {
    await message.begin();
    hear(400, ROOM);
    message.finish();
    await settle();
    expect([requests, done[1]]).toEqual([1, "sent hello there"]);
  });

  it("that cannot be transcribed or sent is kept, says why, and is retried as a whole", async () => {
    heard = { kind: "refused", message: "No ears.", code: "", status: 503 };
    await message.begin();
    hear(1000, VOICE);
    message.finish();
    await settle();
    expect([message.phase, message.problem]).toEqual(["failed", "No ears."]);
    heard = { kind: "ok", value: { text: "now" } };
    refusal = "Not now.";
    message.retry();
    await settle();
    expect([message.phase, message.problem]).toEqual(["failed", "Not now."]);
    refusal = "";
    message.retry();
    await settle();
    expect(done.slice(1)).toEqual(["sent now", "ended"]);
  });

  it("says where nothing was understood, and sends nothing", async () => {
    heard = { kind: "ok", value: { text: " " } };
    await message.begin();
    hear(1000, VOICE);
    message.finish();
    await settle();
    expect([message.phase, message.problem]).toEqual(["failed", "Couldn’t understand that."]);
    message.cancel();
    expect(done.at(-1)).toBe("ended");
  });

  it("ends after five minutes and is sent", async () => {
    await message.begin();
    hear(1000, VOICE);
    clock.pass(5 * 60_000);
    await settle();
    expect(done).toContain("sent hello there");
  });

  it("says why there is no microphone", async () => {
    denied = new MicrophoneError("insecure");
    await message.begin();
    expect(done[0]).toContain("--tls");
    expect(done.at(-1)).toBe("ended");
  });
});
