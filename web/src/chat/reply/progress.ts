// The stage of a running reply and since when: a pure reducer of run events and the time.
import type { RunEvent, RunProgress } from "../../wire/chat/runs";

export type Stage = "sent" | "loading" | "queued" | "reading" | "thinking" | "writing" | "working";

export interface ReplyProgress {
  readonly stage: Stage;
  /** Clock time (milliseconds) at which the stage began, or of its latest estimate. */
  readonly since: number;
  /** The row being written, or the last one. */
  readonly row: string | null;
  readonly update: RunProgress | null;
  readonly thinkingFrom: number | null;
  /** Duration of the reasoning, milliseconds, by row. */
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
    case "load":
      return { ...enter(progress, "loading", now), update: event };
    case "queue":
      // Every update carries a new estimate, which counts down from its arrival.
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
