// What a running reply is doing at this moment, and since when: a pure machine, run events and the time in, the next
// value out. Knows no row's content.
import type { RunEvent, RunProgress } from "../../wire/runs";

export type Stage = "sent" | "queued" | "reading" | "thinking" | "writing" | "working";

export interface Pulse {
  readonly stage: Stage;
  /** Clock time (milliseconds) at which the stage began, or its estimate was given. */
  readonly since: number;
  /** The row that is written, or was last. */
  readonly row: string | null;
  readonly progress: RunProgress | null;
  readonly thinkingFrom: number | null;
  /** How long the model thought, milliseconds, by row. */
  readonly thought: Readonly<Record<string, number>>;
}

export function begin(now: number): Pulse {
  return { stage: "sent", since: now, row: null, progress: null, thinkingFrom: null, thought: {} };
}

function enter(pulse: Pulse, stage: Stage, now: number): Pulse {
  if (pulse.stage === stage) return pulse;
  const { row, thinkingFrom, thought } = pulse;
  const thinkingEnds = row !== null && thinkingFrom !== null;
  return {
    ...pulse,
    stage,
    since: now,
    progress: null,
    thinkingFrom: stage === "thinking" ? now : null,
    thought: thinkingEnds ? { ...thought, [row]: (thought[row] ?? 0) + now - thinkingFrom } : thought,
  };
}

function afterProgress(pulse: Pulse, event: RunProgress, now: number): Pulse {
  switch (event.waiting ?? "") {
    case "queue":
      // Every update brings a fresh estimate, which counts down from now.
      return { ...enter(pulse, "queued", now), since: now, progress: event };
    case "tool":
    case "approval":
      return enter(pulse, "working", now);
    default:
      return event.total ? { ...enter(pulse, "reading", now), progress: event } : enter(pulse, "sent", now);
  }
}

export function beat(pulse: Pulse, event: RunEvent, now: number): Pulse {
  switch (event.type) {
    case "progress":
      return afterProgress(pulse, event, now);
    case "delta":
      return { ...enter({ ...pulse, row: event.message }, event.kind === "reasoning" ? "thinking" : "writing", now) };
    case "message_added":
      return event.message.role === "assistant" ? { ...enter(pulse, "sent", now), row: event.message.id } : pulse;
    case "message_done":
      return enter(pulse, "sent", now);
    case "tool_started":
    case "approval_asked":
      return enter(pulse, "working", now);
    default:
      return pulse;
  }
}
