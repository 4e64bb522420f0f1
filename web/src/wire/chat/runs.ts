// Events of a run and the pure reducer that applies them to its messages. Unknown events change nothing.
import { parseEvent } from "../json";
import { type Approval, type FittedMedia, type Message, messageOf, type RowError, type SparseMessage, textOf, type ToolCall } from "./rows";

export type Outcome = "done" | "stopped" | "failed" | "interrupted" | "limit";
export type WaitReason = "" | "load" | "queue" | "model" | "tool" | "approval";

export interface Run {
  readonly id: string;
  readonly conversation: string;
  readonly outcome?: Outcome | null;
  readonly error?: RowError | null;
}

export interface RunDelta {
  readonly type: "delta";
  readonly message: string;
  readonly kind: "text" | "reasoning" | "tool_call";
  readonly text?: string;
  readonly call?: number;
  readonly id?: string;
  readonly name?: string;
}

export interface RunProgress {
  readonly type: "progress";
  readonly waiting?: WaitReason;
  readonly position?: number;
  readonly wait?: number;
  readonly processed?: number;
  readonly total?: number;
  readonly cached?: number;
  /** The model that is being loaded, and how much of it is, 0 to 1. */
  readonly model?: string;
  readonly loaded?: number;
}

export interface ToolOutput {
  readonly type: "tool_output";
  readonly message: string;
  readonly text?: string;
  readonly progress?: number;
  readonly total?: number;
}

/** What was made of files for the turn of `message`, of all files of the prompt. */
export interface RunFitted extends FittedMedia {
  readonly type: "fitted";
  readonly message: string;
}

export interface RunDone {
  readonly type: "run_done";
  readonly outcome: Outcome;
  readonly error?: RowError | null;
}

export type RunEvent =
  | { readonly type: "run_started"; readonly run: string; readonly conversation: string; readonly message?: string | null; readonly model?: string }
  | { readonly type: "message_added"; readonly message: SparseMessage }
  | RunDelta
  | RunProgress
  | RunFitted
  | { readonly type: "tool_started"; readonly message: string }
  | ToolOutput
  | { readonly type: "tool_result"; readonly message: SparseMessage }
  | { readonly type: "approval_asked"; readonly approval: Approval }
  | { readonly type: "approval_answered"; readonly id: string; readonly decision: string | null }
  | { readonly type: "message_done"; readonly message: SparseMessage }
  | RunDone;

const TYPES = new Set([
  "run_started",
  "message_added",
  "delta",
  "progress",
  "fitted",
  "tool_started",
  "tool_output",
  "tool_result",
  "approval_asked",
  "approval_answered",
  "message_done",
  "run_done",
]);

/** Parses an event; null for a type this page does not know. */
export function readEvent(data: string): RunEvent | null {
  return parseEvent<RunEvent>(data, TYPES);
}

/** State of a run after the events so far. `rows` are the messages it added or changed, in order. */
export interface RunView {
  readonly rows: ReadonlyMap<string, Message>;
  readonly model: string;
  readonly approvals: readonly Approval[];
  /** Latest output of running tools, by message id. */
  readonly outputs: Readonly<Record<string, ToolOutput>>;
  readonly done: RunDone | null;
}

export const EMPTY_RUN: RunView = { rows: new Map(), model: "", approvals: [], outputs: {}, done: null };

function withRow(view: RunView, message: Message): RunView {
  return { ...view, rows: new Map(view.rows).set(message.id, message) };
}

function withText(message: Message, text: string): Message {
  const last = message.content.at(-1);
  if (last?.type !== "text") return { ...message, content: [...message.content, { type: "text", text }] };
  return { ...message, content: [...message.content.slice(0, -1), { type: "text", text: last.text + text }] };
}

function withToolCall(message: Message, { call = 0, id = "", name = "", text = "" }: RunDelta): Message {
  // Fill skipped indices, or a sparse delta would leave holes in the array.
  const toolCalls: ToolCall[] = Array.from(
    { length: Math.max(message.tool_calls.length, call + 1) },
    (_, index) => message.tool_calls[index] ?? { id: "", name: "", arguments: "" },
  );
  const current = toolCalls[call]!;
  toolCalls[call] = { id: current.id || id, name: current.name || name, arguments: current.arguments + text };
  return { ...message, tool_calls: toolCalls };
}

function withDelta(message: Message, delta: RunDelta): Message {
  if (delta.kind === "text") return withText(message, delta.text ?? "");
  if (delta.kind === "reasoning") return { ...message, reasoning: message.reasoning + (delta.text ?? "") };
  return withToolCall(message, delta);
}

/** The view after one more event. Events after the end of the run are ignored. */
export function applyEvent(view: RunView, event: RunEvent): RunView {
  if (view.done) return view;
  switch (event.type) {
    case "run_started":
      return { ...view, model: event.model ?? "" };
    case "message_added":
    case "message_done":
      return withRow(view, messageOf(event.message));
    case "tool_result": {
      const { [event.message.id]: _, ...outputs } = view.outputs;
      return withRow({ ...view, outputs }, messageOf(event.message));
    }
    case "delta": {
      const message = view.rows.get(event.message);
      return message ? withRow(view, withDelta(message, event)) : view;
    }
    case "tool_started": {
      const message = view.rows.get(event.message);
      return message?.call ? withRow(view, { ...message, call: { ...message.call, state: "running" } }) : view;
    }
    case "tool_output":
      return { ...view, outputs: { ...view.outputs, [event.message]: event } };
    case "fitted": {
      const message = view.rows.get(event.message);
      return message ? withRow(view, { ...message, fitted: { transcripts: event.transcripts ?? [], notes: event.notes ?? [] } }) : view;
    }
    case "approval_asked":
      return { ...view, approvals: [...view.approvals.filter(({ id }) => id !== event.approval.id), event.approval] };
    case "approval_answered":
      return { ...view, approvals: view.approvals.filter(({ id }) => id !== event.id) };
    case "run_done":
      return { ...view, approvals: [], outputs: {}, done: event };
    case "progress":
      return view;
  }
}

const FINAL_STATES: ReadonlySet<string> = new Set(["done", "failed", "denied", "expired", "skipped"]);

function isPrefixOf(text: string, shown: string): boolean {
  return text.length < shown.length && shown.startsWith(text);
}

/** Chooses between a message on the page and a new copy of it. After a reconnect the stream replays from an earlier
 * event, and text that is already displayed must not shrink back. */
export function newestVersion(shown: Message, next: Message): Message {
  const sameRun = shown.run !== "" && shown.run === next.run;
  if (next.call) return sameRun && shown.call && FINAL_STATES.has(shown.call.state) && !FINAL_STATES.has(next.call.state) ? shown : next;
  if (next.status !== "running") return next;
  if (isPrefixOf(textOf(next.content), textOf(shown.content)) || isPrefixOf(next.reasoning, shown.reasoning)) return shown;
  return sameRun && shown.status !== "running" ? shown : next;
}
