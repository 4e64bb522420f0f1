import { describe, expect, it } from "vitest";

import { initialProgress, nextProgress, type ReplyProgress } from "../../../src/chat/reply/progress";
import type { RunEvent } from "../../../src/wire/chat/runs";

const started: RunEvent = { type: "message_added", message: { id: "a", parent: null, role: "assistant" } };
const delta = (kind: "text" | "reasoning" | "tool_call"): RunEvent => ({ type: "delta", message: "a", kind, text: "x" });

/** The progress after events one second apart. */
function after(...events: RunEvent[]): ReplyProgress {
  return events.reduce((progress, event, index) => nextProgress(progress, event, (index + 1) * 1000), initialProgress(0));
}

describe("what a reply is doing", () => {
  it("waits in the queue, with a fresh estimate each time", () => {
    const progress = after({ type: "progress", waiting: "queue", position: 3, wait: 9 }, { type: "progress", waiting: "queue", position: 2, wait: 5 });
    expect(progress).toMatchObject({ stage: "queued", since: 2000, update: { position: 2, wait: 5 } });
  });

  it("waits for its model to be loaded", () => {
    const loading = (loaded: number): RunEvent => ({ type: "progress", waiting: "load", model: "big", loaded });
    expect(after(loading(0), loading(0.5))).toMatchObject({ stage: "loading", since: 1000, update: { model: "big", loaded: 0.5 } });
    expect(after(loading(0.5), { type: "progress", waiting: "queue" }).stage).toBe("queued");
  });

  it("reads, since the reading began", () => {
    const reading = (processed: number): RunEvent => ({ type: "progress", waiting: "model", processed, total: 10 });
    expect(after(reading(1), reading(5))).toMatchObject({ stage: "reading", since: 1000, update: { processed: 5 } });
    expect(after(reading(1), { type: "progress", waiting: "model" })).toMatchObject({ stage: "sent", update: null });
  });

  it("thinks, and remembers for how long", () => {
    const progress = after(started, delta("reasoning"), delta("reasoning"), delta("text"));
    expect(progress).toMatchObject({ stage: "writing", row: "a", thought: { a: 2000 } });
    expect(after(started, delta("reasoning"))).toMatchObject({ stage: "thinking", thinkingFrom: 2000, thought: {} });
  });

  it("ends its thinking with the row, also where nothing was said", () => {
    const done: RunEvent = { type: "message_done", message: { id: "a", parent: null, role: "assistant" } };
    expect(after(started, delta("reasoning"), done)).toMatchObject({ stage: "sent", thought: { a: 1000 } });
  });

  it("is working while tools run or wait for approval", () => {
    expect(after(started, { type: "tool_started", message: "t" }).stage).toBe("working");
    expect(after({ type: "progress", waiting: "approval" }).stage).toBe("working");
  });
});
