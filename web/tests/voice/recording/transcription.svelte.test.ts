import { beforeEach, describe, expect, it } from "vitest";

import { Transcription } from "../../../src/voice/recording/transcription.svelte";
import type { Answer } from "../../../src/wire/transport/http";
import { settle } from "../../server";

let requests: { wav: Uint8Array; signal: AbortSignal; answer: (answer: Answer<{ text: string }>) => void }[];
let done: string[];
let transcription: Transcription;

beforeEach(() => {
  [requests, done] = [[], []];
  transcription = new Transcription({
    transcribe: (wav, signal) => new Promise((answer) => requests.push({ wav, signal, answer })),
    onText: (text) => done.push(text),
    onError: (sentence) => done.push(`failed ${sentence}`),
    onOverload: () => done.push("behind"),
  });
});

function say(milliseconds: number): void {
  for (const [length, level] of [[milliseconds, 0.1], [1000, 0.001]] as const)
    for (let at = 0; at < length; at += 20) transcription.push({ pcm: new Int16Array(320), level });
}

const ok = (text: string) => ({ kind: "ok", value: { text } }) as const;

describe("writing down speech", () => {
  it("gives the texts in their order, and is finished after the last", async () => {
    say(500);
    say(500);
    let finished = false;
    void transcription.finish().then(() => (finished = true));
    requests[1]!.answer(ok("two"));
    await settle();
    expect([done, finished, transcription.pending]).toEqual([[], false, 2]);
    requests[0]!.answer(ok(" one "));
    await settle();
    expect([done, finished, transcription.pending]).toEqual([["one", "two"], true, 0]);
  });

  it("leaves out what is too much at a time, and says so", () => {
    for (let phrase = 0; phrase < 9; phrase++) say(500);
    expect([requests.length, done]).toEqual([8, ["behind"]]);
  });

  it("takes a whole recording as one phrase, and says why it failed", async () => {
    transcription.add([new Int16Array(320), new Int16Array(320)]);
    expect(requests[0]!.wav.length).toBe(44 + 4 * 320);
    requests[0]!.answer({ kind: "refused", message: "No.", code: "", status: 500 });
    await transcription.finish();
    expect(done).toEqual(["failed No."]);
  });

  it("that is stopped gives nothing more", async () => {
    say(500);
    transcription.stop();
    expect(requests[0]!.signal.aborted).toBe(true);
    requests[0]!.answer(ok("late"));
    await settle();
    say(500);
    expect([done, requests.length]).toEqual([[], 1]);
  });
});
