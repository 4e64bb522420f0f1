import { describe, expect, it } from "vitest";

import { PushToTalk } from "../../../src/voice/call/push_to_talk.svelte";

function made(on: boolean): { talk: PushToTalk; silent: () => boolean } {
  let last = false;
  const talk = new PushToTalk(on, (silent) => (last = silent));
  return { talk, silent: () => last };
}

describe("push-to-talk", () => {
  it("has the microphone silent between presses", () => {
    const { talk, silent } = made(true);
    expect(silent()).toBe(true);
    expect(talk.press(true)).toBe(true);
    expect([talk.pressed, silent()]).toEqual([true, false]);
    expect(talk.press(true)).toBe(false);
    talk.release();
    expect([talk.pressed, silent()]).toEqual([false, true]);
  });

  it("does nothing while it is off", () => {
    const { talk, silent } = made(false);
    expect(talk.press(true)).toBe(false);
    expect([talk.on, talk.pressed, silent()]).toEqual([false, false, false]);
    talk.turn(true);
    expect([talk.on, silent()]).toEqual([true, true]);
  });
});
