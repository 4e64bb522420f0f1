import { describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { moodOf, stateOf } from "../../../src/ui/call/call_display";

const live = { phase: "live", queuePosition: null, approval: null } as const;

describe("how a call is shown", () => {
  it("is its state, as a look and as words", () => {
    expect([moodOf({ ...live, state: "hearing" }), stateOf({ ...live, state: "hearing" })]).toEqual(["hearing", "Hearing you"]);
    expect(stateOf({ phase: "connecting", state: "listening", queuePosition: null, approval: null })).toBe("Calling");
    expect(moodOf({ phase: "reconnecting", state: "speaking", queuePosition: null, approval: null })).toBe("calling");
    expect(stateOf({ phase: "over", state: "speaking", queuePosition: null, approval: null })).toBe("Call ended");
  });

  it("is that something has to be answered, before anything else", () => {
    expect(stateOf({ ...live, state: "waiting", approval: { id: "a", run: "", conversation: "c" } })).toBe("Your approval is needed");
  });

  it("is the place in the queue while it waits", () => {
    expect(stateOf({ ...live, state: "waiting", queuePosition: { position: 3, wait: null } })).toBe("Number 3 in the queue");
    expect(stateOf({ ...live, state: "waiting", queuePosition: { position: 1, wait: 200 } })).toBe("You are next, about 3 min");
  });
});
