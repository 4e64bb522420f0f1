import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { Dictation } from "../../../src/voice/recording/dictation.svelte";
import { MicrophoneError, type MicrophoneListener } from "../../../src/voice/audio/microphone";
import type { Answer } from "../../../src/wire/transport/http";
import { FakeClock } from "../../clock";
import { settle } from "../../server";

let clock: FakeClock;
let microphone: MicrophoneListener;
let requests: { wav: Uint8Array; signal: AbortSignal; answer: (answer: Answer<{ text: string }>) => void }[];
let done: string[];
let refusal: MicrophoneError | null;
let dictation: Dictation;

beforeEach(() => {
  clock = new FakeClock();
  [requests, done, refusal] = [[], [], null];
  dictation = new Dictation({
    async microphone(listener) {
      if (refusal) throw refusal;
      microphone = listener;
      return { device: "", setMuted: () => {}, stop: () => done.push("deaf") };
    },
    transcribe: (wav, signal) => new Promise((answer) => requests.push({ wav, signal, answer })),
    insert: (text) => done.push(`insert ${text}`),
    clock,
    reportProblem: (sentence) => done.push(sentence),
    onEnd: () => done.push("ended"),
  });
});

function hear(milliseconds: number, level: number): void {
  for (let at = 0; at < milliseconds; at += 20) microphone.onFrame({ pcm: new Int16Array(320), level });
}

const phrase = () => (hear(1000, 0.1), hear(1000, 0.001));
const ok = (text: string) => ({ kind: "ok", value: { text } }) as const;

describe("dictating", () => {
  it("writes each phrase as soon as it is understood, in its order", async () => {
    await dictation.begin();
    expect(dictation.phase).toBe("recording");
    phrase();
    phrase();
    expect([requests.length, dictation.pending]).toEqual([2, 2]);
    expect(String.fromCharCode(...requests[0]!.wav.subarray(0, 4))).toBe("RIFF");
    requests[1]!.answer(ok("two"));
    await settle();
    expect(done).toEqual([]);
    requests[0]!.answer(ok(" one "));
    await settle();
    expect(done).toEqual(["insert one", "insert two"]);
    expect(dictation.pending).toBe(0);
  });

  it("releases the microphone and then inserts the rest when it ends", async () => {
    await dictation.begin();
    hear(1000, 0.1);
    dictation.finish();
    expect([dictation.phase, done]).toEqual(["finishing", ["deaf"]]);
    requests[0]!.answer(ok("rest"));
    await settle();
    expect(done.slice(1)).toEqual(["insert rest", "ended"]);
  });

  it("says where nothing was understood", async () => {
    await dictation.begin();
    hear(1000, 0.001);
    dictation.finish();
    await settle();
    expect(done.slice(1)).toEqual(["Couldn’t understand that.", "ended"]);
  });

  it("thrown away writes nothing more", async () => {
    await dictation.begin();
    phrase();
    dictation.cancel();
    expect(requests[0]!.signal.aborted).toBe(true);
    requests[0]!.answer(ok("late"));
    await settle();
    expect(done).toEqual(["deaf", "ended"]);
  });

  it("ends where the server will not, and says why", async () => {
    await dictation.begin();
    phrase();
    requests[0]!.answer({ kind: "refused", message: "No ears.", code: "", status: 503 });
    await settle();
    expect(done).toEqual(["No ears.", "deaf", "ended"]);
  });

  it("says why there is no microphone", async () => {
    refusal = new MicrophoneError("insecure");
    await dictation.begin();
    expect(done[0]).toContain("--tls");
    expect(done[1]).toBe("ended");
  });

  it("ends after a time limit", async () => {
    await dictation.begin();
    clock.pass(10 * 60_000);
    expect(dictation.phase).toBe("finishing");
  });
});
