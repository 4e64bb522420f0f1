import { describe, expect, it } from "vitest";

import { advance, begin, cancelled, hasOutput, isRunning, isUnanswered, type Reply } from "../../src/chat/reply";
import type { ServerMessage } from "../../src/wire/chat";

/** Plays messages, each at its time. */
function play(...script: [number, ServerMessage][]): Reply {
  return script.reduce((reply, [now, message]) => advance(reply, message, now), begin(0));
}

const done: ServerMessage = {
  type: "done",
  text: "four",
  finish_reason: "stop",
  generated_tokens: 20,
  input_tokens: 9,
  timings: { generate_ms: 400, first_token_ms: 120 },
  model: "mini",
};

describe("a reply", () => {
  it("joins its pieces", () => {
    const reply = play([1, { type: "chunk", text_delta: "fo" }], [2, { type: "chunk", text_delta: "ur" }]);
    expect(reply).toMatchObject({ stage: "writing", text: "four", since: 1 });
  });

  it("tells its place in the queue, and forgets it when its turn comes", () => {
    const waiting = play([5, { type: "queued", position: 2, queue_length: 3, estimated_wait_s: 12 }]);
    expect(waiting).toMatchObject({ stage: "queued", queue: { position: 2, length: 3, wait: 12 } });
    const nearer = advance(waiting, { type: "queue_update", position: 1, estimated_wait_s: 4 }, 9);
    expect(nearer).toMatchObject({ since: 9, queue: { position: 1, length: null, wait: 4 } });
    expect(advance(nearer, { type: "queue_done" }, 10)).toMatchObject({ stage: "sent", queue: null });
  });

  it("tells how far the prompt is read, and forgets it at the first word", () => {
    const reading = play([1, { type: "progress", processed: 10, total: 40 }], [2, { type: "progress", processed: 20, total: 40 }]);
    expect(reading).toMatchObject({ stage: "reading", since: 1, progress: { processed: 20, total: 40 } });
    expect(advance(reading, { type: "chunk", text_delta: "a" }, 3)).toMatchObject({ stage: "writing", progress: null });
  });

  it("measures how long the model thought, over several spells", () => {
    const reply = play(
      [100, { type: "chunk", reasoning_delta: "2 and 2" }],
      [1100, { type: "chunk", text_delta: "hm " }],
      [2000, { type: "chunk", reasoning_delta: " again" }],
      [2500, { type: "chunk", text_delta: "four" }],
    );
    expect(reply).toMatchObject({ reasoning: "2 and 2 again", text: "hm four", thoughtFor: 1500 });
  });

  it("counts a reply that was all thought", () => {
    expect(play([0, { type: "chunk", reasoning_delta: "hm" }], [700, { type: "done", text: "" }])).toMatchObject({
      stage: "ended",
      thoughtFor: 700,
    });
  });

  it("joins tool calls by their index", () => {
    const reply = play([
      1,
      {
        type: "chunk",
        tool_calls: [
          { index: 1, function: { name: "clock", arguments: "{}" } },
          { index: 0, id: "c1", function: { name: "add", arguments: '{"a"' } },
        ],
      },
    ], [2, { type: "chunk", tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }]);
    expect(reply.toolCalls).toEqual([
      { name: "add", arguments: '{"a":1}' },
      { name: "clock", arguments: "{}" },
    ]);
  });

  it("ends with what it cost, and with the whole text as said last", () => {
    const reply = play([1, { type: "chunk", text_delta: "fou" }], [2, done]);
    expect(reply).toMatchObject({
      stage: "ended",
      text: "four",
      model: "mini",
      finish: "stop",
      figures: { tokens: 20, input: 9, generating: 400, first: 120 },
    });
  });

  it("keeps what was said before an error", () => {
    const reply = play([1, { type: "chunk", text_delta: "fo" }], [2, { type: "error", code: "worker_lost", message: "Gone." }]);
    expect(reply).toMatchObject({ stage: "failed", text: "fo", failure: { code: "worker_lost", message: "Gone." } });
  });

  it("understands an error that has only the old field, or no words at all", () => {
    expect(play([1, { type: "error", error: "Busy" }]).failure).toEqual({ code: "error", message: "Busy" });
    expect(play([1, { type: "error" }]).failure?.message).toMatch(/without saying why/);
  });

  it("changes no more after its last message", () => {
    const ended = play([1, done]);
    expect(advance(ended, { type: "chunk", text_delta: "late" }, 2)).toBe(ended);
    expect(isRunning(ended)).toBe(false);
  });

  it("is unanswered only when it ended badly with nothing said", () => {
    expect(isUnanswered(cancelled(begin(0), 1))).toBe(true);
    expect(isUnanswered(play([1, { type: "error" }]))).toBe(true);
    expect(isUnanswered(play([1, { type: "done", text: "" }]))).toBe(false);
    expect(isUnanswered(play([1, { type: "chunk", reasoning_delta: "a" }], [2, { type: "error" }]))).toBe(false);
    expect(hasOutput(play([1, { type: "chunk", text_delta: "a" }]))).toBe(true);
  });
});
