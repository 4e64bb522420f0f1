import { beforeEach, describe, expect, it } from "vitest";

import { Writing } from "../../../src/voice/dictation/writing.svelte";
import type { Answer } from "../../../src/wire/transport/http";
import { calm } from "../../server";

let asked: { wav: Uint8Array; signal: AbortSignal; answer: (answer: Answer<{ text: string }>) => void }[];
let done: string[];
let writing: Writing;

beforeEach(() => {
  [asked, done] = [[], []];
  writing = new Writing({
    transcribe: (wav, signal) => new Promise((answer) => asked.push({ wav, signal, answer })),
    written: (text) => done.push(text),
    failed: (sentence) => done.push(`failed ${sentence}`),
    behind: () => done.push("behind"),
  });
});

function say(milliseconds: number): void {
  for (const [length, level] of [[milliseconds, 0.1], [1000, 0.001]] as const)
    for (let at = 0; at < length; at += 20) writing.push({ pcm: new Int16Array(320), level });
}

const ok = (text: string) => ({ kind: "ok", value: { text } }) as const;

describe("writing down speech", () => {
  it("gives the texts in their order, and is finished after the last", async () => {
    say(500);
    say(500);
    let finished = false;
    void writing.finish().then(() => (finished = true));
    asked[1]!.answer(ok("two"));
    await calm();
    expect([done, finished, writing.waiting]).toEqual([[], false, 2]);
    asked[0]!.answer(ok(" one "));
    await calm();
    expect([done, finished, writing.waiting]).toEqual([["one", "two"], true, 0]);
  });

  it("leaves out what is too much at a time, and says so", () => {
    for (let phrase = 0; phrase < 9; phrase++) say(500);
    expect([asked.length, done]).toEqual([8, ["behind"]]);
  });

  it("takes a whole recording as one phrase, and says why it failed", async () => {
    writing.add([new Int16Array(320), new Int16Array(320)]);
    expect(asked[0]!.wav.length).toBe(44 + 4 * 320);
    asked[0]!.answer({ kind: "refused", message: "No.", code: "", status: 500 });
    await writing.finish();
    expect(done).toEqual(["failed No."]);
  });

  it("that is stopped gives nothing more", async () => {
    say(500);
    writing.stop();
    expect(asked[0]!.signal.aborted).toBe(true);
    asked[0]!.answer(ok("late"));
    await calm();
    say(500);
    expect([done, asked.length]).toEqual([[], 1]);
  });
});
