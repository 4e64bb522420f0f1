// What a running reply is doing at this moment, and since when: a pure machine, run events and the time in, the next
// value out. Knows no row's content.
import type { RunEvent, RunProgress } from "../../wire/runs";

export type Stage = "sent" | "queued" | "reading" | "thinking" | "writing" | "working";

export interface ReplyProgress {
  readonly stage: Stage;
  /** Clock time (milliseconds) at which the stage began, or its estimate was given. */
  readonly since: number;
  /** The row that is written, or was last. */
  readonly row: string | null;
  readonly update: RunProgress | null;
  readonly thinkingFrom: number | null;
  /** How long the model thought, milliseconds, by row. */
  readonly thought: Readonly<Record<string, number>>;
}

export function initialProgress(now: number): ReplyProgress {
  return { stage: "sent", since: now, row: null, update: null, thinkingFrom: null, thought: {} };
}

function enter(progress: ReplyProgress, stage: Stage, now: number): ReplyProgress {
  if (progress.stage === stage) return progress;
  const { row, thinkingFrom, thought } = progress;
  const thinkingEnds = row !== null && thinkingFrom !== null;
  return {
    ...progress,
    stage,
    since: now,
    update: null,
    thinkingFrom: stage === "thinking" ? now : null,
    thought: thinkingEnds ? { ...thought, [row]: (thought[row] ?? 0) + now - thinkingFrom } : thought,
  };
}

function afterProgress(progress: ReplyProgress, event: RunProgress, now: number): ReplyProgress {
  switch (event.waiting ?? "") {
    case "queue":
      // Every update brings a fresh estimate, which counts down from now.
      return { ...enter(progress, "queued", now), since: now, update: event };
    case "tool":
    case "approval":
      return enter(progress, "working", now);
    default:
      return event.total ? { ...enter(progress, "reading", now), update: event } : enter(progress, "sent", now);
  }
}

export function nextProgress(progress: ReplyProgress, event: RunEvent, now: number): ReplyProgress {
  switch (event.type) {
    case "progress":
      return afterProgress(progress, event, now);
    case "delta":
      return { ...enter({ ...progress, row: event.message }, event.kind === "reasoning" ? "thinking" : "writing", now) };
    case "message_added":
      return event.message.role === "assistant" ? { ...enter(progress, "sent", now), row: event.message.id } : progress;
    case "message_done":
      return enter(progress, "sent", now);
    case "tool_started":
    case "approval_asked":
      return enter(progress, "working", now);
    default:
      return progress;
  }
}
