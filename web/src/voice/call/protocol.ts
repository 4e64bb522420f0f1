// Messages of the voice socket. Incoming messages are validated field by field, and unknown ones are ignored. Audio is
// in binary frames and not handled here. Pure.
import { isObject, type JsonObject } from "../../wire/json";
import type { ApprovalAnswer } from "../../wire/chat/conversations";
import type { Approval, ToolCallState } from "../../wire/chat/rows";

export const STATES = ["listening", "hearing", "thinking", "speaking", "paused", "waiting"] as const;

export type CallState = (typeof STATES)[number];

export type Ending = "spoken" | "interrupted" | "failed" | "replaced";

/** A word of a reply and when it is spoken, in milliseconds from the reply's first sample; `at` and `to` are its
 * range in the written text (in code points), if the server knows it. */
export interface CaptionWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly at?: number;
  readonly to?: number;
}

/** Tokens in the model's cache, and milliseconds from the end of the piece to the model's answer to it. */
export interface UnitFigures {
  readonly cached: number;
  readonly late: number;
}

export type ServerMessage =
  | { readonly type: "status"; readonly epoch: number; readonly state: CallState }
  | { readonly type: "transcript"; readonly epoch: number; readonly turn: number; readonly text: string; readonly final: boolean; readonly understood: boolean }
  | { readonly type: "response_text"; readonly epoch: number; readonly reply: number; readonly text: string; readonly final: boolean }
  | { readonly type: "audio_start"; readonly epoch: number; readonly reply: number; readonly chunk: number }
  | { readonly type: "caption"; readonly epoch: number; readonly reply: number; readonly words: readonly CaptionWord[] }
  | { readonly type: "audio_end"; readonly epoch: number; readonly reply: number }
  | { readonly type: "pause" | "resume" | "interrupt"; readonly epoch: number; readonly reply: number }
  | { readonly type: "reply_done"; readonly epoch: number; readonly reply: number; readonly text: string; readonly unheard: string; readonly ending: Ending }
  | { readonly type: "tool"; readonly epoch: number; readonly reply: number; readonly call: string; readonly tool: string; readonly server: string; readonly state: ToolCallState; readonly text: string }
  | { readonly type: "asked"; readonly epoch: number; readonly reply: number; readonly approval: Approval }
  | { readonly type: "answered"; readonly epoch: number; readonly id: string }
  | { readonly type: "history"; readonly epoch: number }
  | { readonly type: "error"; readonly epoch: number; readonly code: string; readonly message: string; readonly param: string }
  | { readonly type: "queued"; readonly epoch: number; readonly position: number; readonly wait: number | null }
  | { readonly type: "queue_done"; readonly epoch: number }
  | { readonly type: "recording"; readonly epoch: number; readonly on: boolean; readonly reason: string }
  /** A model that holds the call by itself has heard and seen a piece of it. */
  | { readonly type: "unit"; readonly epoch: number; readonly unit: UnitFigures }
  /** Another voice speaks than was asked for; empty while its name is unknown. */
  | { readonly type: "voice"; readonly epoch: number; readonly voice: string };

export interface CallStart {
  readonly conversation: string | null;
  /** Empty: the conversation's model, else the default. */
  readonly model: string;
  /** Voice id; empty: the server's default. */
  readonly voice: string;
  readonly speed: number;
  readonly language: string;
  /** Records the call from its beginning. */
  readonly record?: boolean;
}

export type ClientMessage =
  | { readonly type: "played"; readonly reply_id: number; readonly samples: number }
  | { readonly type: "interrupt"; readonly reply_id?: number; readonly samples?: number; readonly last_chunk_id?: number }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "hold"; readonly down: boolean }
  | ({ readonly type: "approval"; readonly id: string } & ApprovalAnswer)
  | { readonly type: "record"; readonly on: boolean }
  /** A frame as a data URL; the newest counts. */
  | { readonly type: "frame"; readonly image: string; readonly source: "camera" | "screen" }
  | { readonly type: "stop" };

const TOOL_STATES: readonly ToolCallState[] = ["waiting", "asked", "running", "done", "failed", "denied", "expired", "skipped"];

const text = (value: unknown) => (typeof value === "string" ? value : "");
const integer = (value: unknown) => (typeof value === "number" && Number.isSafeInteger(value) ? value : null);
const nonNegative = (value: unknown) => (typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null);

/** Parses a text frame; null for an unknown or malformed message. */
export function readMessage(frame: string): ServerMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const fields = value;
  const epoch = integer(fields["epoch"]) ?? 0;
  return replyMessage(fields, epoch) ?? callMessage(fields, epoch);
}

function replyMessage(fields: JsonObject, epoch: number): ServerMessage | null {
  const reply = integer(fields["reply_id"]);
  if (reply === null) return null;
  const { type } = fields;
  switch (type) {
    case "response_text":
      return { type, epoch, reply, text: text(fields["text"]), final: fields["final"] === true };
    case "audio_start":
      return { type, epoch, reply, chunk: integer(fields["chunk_id"]) ?? 0 };
    case "caption":
      return { type, epoch, reply, words: Array.isArray(fields["words"]) ? fields["words"].flatMap(captionWords) : [] };
    case "audio_end":
    case "pause":
    case "resume":
    case "interrupt":
      return { type, epoch, reply };
    case "reply_done": {
      const endings: readonly Ending[] = ["spoken", "interrupted", "failed", "replaced"];
      return { type, epoch, reply, text: text(fields["text"]), unheard: text(fields["unheard"]), ending: endings.find((ending) => ending === fields["ending"]) ?? "spoken" };
    }
    case "tool": {
      const state = TOOL_STATES.find((known) => known === fields["state"]);
      const call = text(fields["call_id"]);
      if (state === undefined || call === "") return null;
      return { type, epoch, reply, call, tool: text(fields["tool"]) || text(fields["name"]), server: text(fields["server"]), state, text: text(fields["text"]) };
    }
    case "approval_asked": {
      const approval = fields["approval"] as Partial<Approval> | null | undefined;
      return typeof approval?.id === "string" ? { type: "asked", epoch, reply, approval: approval as Approval } : null;
    }
    default:
      return null;
  }
}

function callMessage(fields: JsonObject, epoch: number): ServerMessage | null {
  const { type } = fields;
  switch (type) {
    case "status": {
      const state = STATES.find((known) => known === fields["state"]);
      return state === undefined ? null : { type, epoch, state };
    }
    case "transcript":
      return { type, epoch, turn: integer(fields["turn"]) ?? 0, text: text(fields["text"]), final: fields["final"] === true, understood: fields["understood"] !== false };
    case "error":
      return { type, epoch, code: text(fields["code"]), message: text(fields["message"]), param: text(fields["param"]) };
    case "queued":
    case "queue_update":
      return { type: "queued", epoch, position: integer(fields["position"]) ?? 0, wait: nonNegative(fields["estimated_wait_s"]) };
    case "approval_answered":
      return { type: "answered", epoch, id: text(fields["id"]) };
    case "queue_done":
    case "history":
      return { type, epoch };
    case "recording":
      return { type, epoch, on: fields["on"] === true, reason: text(fields["reason"]) };
    case "unit":
      return { type, epoch, unit: { cached: nonNegative(fields["kv_cache_length"]) ?? 0, late: nonNegative(fields["late_ms"]) ?? 0 } };
    case "voice":
      return { type, epoch, voice: text(fields["voice"]) };
    default:
      return null;
  }
}

function captionWords(value: unknown): CaptionWord[] {
  if (!isObject(value)) return [];
  const fields = value;
  const [start, end] = [nonNegative(fields["start_ms"]), nonNegative(fields["end_ms"])];
  if (start === null || end === null || end < start) return [];
  const [at, to] = [integer(fields["at"]), integer(fields["to"])];
  return [{ text: text(fields["text"]), start, end, ...(at !== null && to !== null && at >= 0 && to >= at ? { at, to } : {}) }];
}

/** The first message of a call. `features`: this client can pause and resume, reports what was played, and shows the figures of units. */
export function startMessage({ conversation, model, voice, speed, language, record = false }: CallStart): string {
  return JSON.stringify({
    type: "start",
    features: ["pause", "played", "units"],
    ...(conversation === null ? {} : { conversation_id: conversation }),
    ...(model === "" ? {} : { model }),
    ...(voice === "" ? {} : { voice }),
    ...(language === "" ? {} : { language }),
    ...(speed === 1 ? {} : { speed }),
    ...(record ? { record } : {}),
  });
}
