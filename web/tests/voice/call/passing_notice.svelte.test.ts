import { describe, expect, it } from "vitest";

import { NOTICE_MS, PassingNotice } from "../../../src/voice/call/passing_notice.svelte";
import type { Clock } from "../../../src/wire/transport/clock";

describe("a notice", () => {
  it("goes by itself, and a new one stays as long as the first", () => {
    const timers: { readonly ms: number; run: (() => void) | null }[] = [];
    const clock = {
      now: () => 0,
      after: (ms: number, run: () => void) => {
        const timer: (typeof timers)[number] = { ms, run };
        timers.push(timer);
        return () => (timer.run = null);
      },
    } as unknown as Clock;
    const notice = new PassingNotice(clock);
    notice.show("one");
    notice.show("two");
    expect(timers.map(({ ms, run }) => [ms, run !== null])).toEqual([[NOTICE_MS, false], [NOTICE_MS, true]]);
    expect(notice.text).toBe("two");
    timers[1]?.run?.();
    expect(notice.text).toBe("");
    notice.show("three");
    notice.clear();
    expect([notice.text, timers[2]?.run]).toEqual(["", null]);
  });
});
