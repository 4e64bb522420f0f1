import { describe, expect, it } from "vitest";

import { PhraseSplitter } from "../../../src/voice/recording/phrase_splitter";

/** Feeds audio of constant loudness; returns the lengths of completed phrases, in frames. */
function hear(phrases: PhraseSplitter, milliseconds: number, level: number): number[] {
  const ended: number[] = [];
  for (let at = 0; at < milliseconds; at += 20) {
    const phrase = phrases.push({ pcm: new Int16Array(320), level });
    if (phrase) ended.push(phrase.length);
  }
  return ended;
}

const ROOM = 0.002;
const VOICE = 0.08;

describe("a dictated text", () => {
  it("is cut after a pause, with a little before its first word", () => {
    const phrases = new PhraseSplitter();
    expect(hear(phrases, 3000, ROOM)).toEqual([]);
    expect(hear(phrases, 2000, VOICE)).toEqual([]);
    expect(hear(phrases, 400, ROOM)).toEqual([]);
    const [length] = hear(phrases, 1000, ROOM);
    expect(length).toBeGreaterThanOrEqual(100 + 40);
    expect(length).toBeLessThanOrEqual(100 + 40 + 21);
  });

  it("is not made of a click or of silence", () => {
    const phrases = new PhraseSplitter();
    hear(phrases, 1000, ROOM);
    hear(phrases, 60, VOICE);
    expect(hear(phrases, 3000, ROOM)).toEqual([]);
    expect(phrases.finish()).toBe(null);
  });

  it("is cut in a noisy room too, once the noise level is known", () => {
    const phrases = new PhraseSplitter();
    hear(phrases, 6000, 0.02);
    phrases.finish();
    hear(phrases, 2000, 0.2);
    expect(hear(phrases, 1500, 0.02).length).toBe(1);
  });

  it("is followed by silence that is counted from the last word", () => {
    const phrases = new PhraseSplitter();
    hear(phrases, 1000, ROOM);
    expect(phrases.silence).toBe(null);
    hear(phrases, 1000, VOICE);
    hear(phrases, 1000, ROOM);
    expect(phrases.silence).toBe(50);
    hear(phrases, 20, VOICE);
    expect(phrases.silence).toBe(0);
  });

  it("returns the rest at the end, and starts over", () => {
    const phrases = new PhraseSplitter();
    hear(phrases, 1000, VOICE);
    expect(phrases.finish()!.length).toBe(50);
    expect(phrases.finish()).toBe(null);
  });

  it("is cut eventually if the speaker never pauses", () => {
    const phrases = new PhraseSplitter();
    const ended: number[] = [];
    // Speech: loud, with a short dip after every syllable.
    for (let syllable = 0; syllable < 240; syllable++) ended.push(...hear(phrases, 220, VOICE), ...hear(phrases, 40, 0.01));
    expect(ended).toEqual([1250, 1250]);
  });
});
