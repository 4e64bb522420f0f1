// A reply as it comes into being: a pure machine, server messages and the time in, the reply's next value out.
// Knows no socket, no clock and no place in a conversation.
import type { FinishReason, ServerMessage, ToolCallDelta } from "../wire/chat";

export type Stage = "sent" | "queued" | "reading" | "thinking" | "writing" | "ended" | "failed";

export interface ToolCall {
  readonly name: string;
  readonly arguments: string;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export interface Reply {
  readonly stage: Stage;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly model: string;
  /** Clock time (milliseconds) at which the stage began, or its estimate was given. */
  readonly since: number;
  readonly queue: { readonly position: number; readonly length: number | null; readonly wait: number | null } | null;
  readonly progress: { readonly processed: number; readonly total: number } | null;
  readonly thinkingFrom: number | null;
  /** How long the model thought, milliseconds; null while it does, and when it never did. */
  readonly thoughtFor: number | null;
  readonly finish: FinishReason | null;
  readonly failure: Failure | null;
  readonly figures: Figures | null;
}

/** What the reply cost. Milliseconds; null where the server did not say. */
export interface Figures {
  readonly tokens: number;
  readonly input: number | null;
  readonly generating: number | null;
  readonly first: number | null;
}

export function begin(now: number): Reply {
  return {
    stage: "sent",
    text: "",
    reasoning: "",
    toolCalls: [],
    model: "",
    since: now,
    queue: null,
    progress: null,
    thinkingFrom: null,
    thoughtFor: null,
    finish: null,
    failure: null,
    figures: null,
  };
}

export function isRunning(reply: Reply): boolean {
  return reply.stage !== "ended" && reply.stage !== "failed";
}

/** Whether anything of the model's own is there to be kept. */
export function hasOutput(reply: Reply): boolean {
  return reply.text !== "" || reply.reasoning !== "" || reply.toolCalls.length > 0;
}

/** Whether it failed or was stopped before it said anything: its question is still open. */
export function isUnanswered(reply: Reply): boolean {
  return !hasOutput(reply) && (reply.stage === "failed" || reply.finish === "cancelled");
}

function enter(reply: Reply, stage: Stage, now: number): Reply {
  if (reply.stage === stage) return reply;
  const thinkingEnds = reply.stage === "thinking" && reply.thinkingFrom !== null;
  return {
    ...reply,
    stage,
    since: now,
    queue: stage === "queued" ? reply.queue : null,
    progress: stage === "reading" ? reply.progress : null,
    thinkingFrom: stage === "thinking" ? now : null,
    thoughtFor: thinkingEnds ? (reply.thoughtFor ?? 0) + now - reply.thinkingFrom! : reply.thoughtFor,
  };
}

function joinCalls(calls: readonly ToolCall[], deltas: readonly ToolCallDelta[]): readonly ToolCall[] {
  const joined = [...calls];
  for (const { index, function: piece } of deltas) {
    const call = joined[index] ?? { name: "", arguments: "" };
    joined[index] = { name: call.name + (piece?.name ?? ""), arguments: call.arguments + (piece?.arguments ?? "") };
  }
  // A call the server skipped would leave a hole.
  return Array.from(joined, (call) => call ?? { name: "", arguments: "" });
}

export function fail(reply: Reply, failure: Failure, now: number): Reply {
  return { ...enter(reply, "failed", now), failure };
}

export function cancelled(reply: Reply, now: number): Reply {
  return { ...enter(reply, "ended", now), finish: "cancelled" };
}

type Chunk = Extract<ServerMessage, { type: "chunk" }>;
type Done = Extract<ServerMessage, { type: "done" }>;

function afterChunk(reply: Reply, chunk: Chunk, now: number): Reply {
  let next = reply;
  if (chunk.reasoning_delta) {
    next = { ...enter(next, "thinking", now), reasoning: next.reasoning + chunk.reasoning_delta };
  }
  if (chunk.text_delta) next = { ...enter(next, "writing", now), text: next.text + chunk.text_delta };
  if (chunk.tool_calls?.length) {
    next = { ...enter(next, "writing", now), toolCalls: joinCalls(next.toolCalls, chunk.tool_calls) };
  }
  return next;
}

function afterDone(reply: Reply, done: Done, now: number): Reply {
  return {
    ...enter(reply, "ended", now),
    // The whole text is said once more at the end: where it differs from the pieces, it is right.
    text: done.text ?? reply.text,
    reasoning: done.reasoning ?? reply.reasoning,
    model: done.model ?? reply.model,
    finish: done.finish_reason ?? "stop",
    figures: {
      tokens: done.generated_tokens ?? 0,
      input: done.input_tokens ?? null,
      generating: done.timings?.generate_ms ?? null,
      first: done.timings?.first_token_ms ?? done.timings?.first_ms ?? null,
    },
  };
}

/** The reply after one more message. After its last message nothing changes it any more. */
export function advance(reply: Reply, message: ServerMessage, now: number): Reply {
  if (!isRunning(reply)) return reply;
  switch (message.type) {
    case "queued":
    case "queue_update": {
      const { position, queue_length: length = null, estimated_wait_s: wait = null } = message;
      // Every update brings a fresh estimate, which counts down from now.
      return { ...enter(reply, "queued", now), since: now, queue: { position, length, wait } };
    }
    case "queue_done":
      return enter(reply, "sent", now);
    case "progress":
      return { ...enter(reply, "reading", now), progress: { processed: message.processed, total: message.total } };
    case "prefill_done":
      return enter(reply, "sent", now);
    case "chunk":
      return afterChunk(reply, message, now);
    case "done":
      return afterDone(reply, message, now);
    case "error":
      return fail(
        reply,
        {
          code: message.code ?? "error",
          message: message.message ?? message.error ?? "The server ended this reply without saying why.",
        },
        now,
      );
  }
}
