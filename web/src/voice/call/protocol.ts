// Messages of the voice socket. Incoming messages are validated field by field, and unknown ones are ignored. Audio is
// in binary frames and not handled here. Pure.
import { isObject, type JsonObject } from "../../wire/json";
import type { MouthKey } from "../face/mouth";
import type { CallFilm } from "../video_stream/call_film";
import type { VideoSegment } from "../video_stream/segment";
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
  /** What the mouth of a face does while this part of the reply is audible. */
  | { readonly type: "mouth"; readonly epoch: number; readonly reply: number; readonly keys: readonly MouthKey[] }
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
  /** Pictures of a reply, and of the face at rest; whether there will be any. */
  | { readonly type: "video_segment"; readonly epoch: number; readonly reply: number; readonly segment: VideoSegment }
  | { readonly type: "video_idle"; readonly epoch: number; readonly segment: VideoSegment }
  | { readonly type: "video_mode"; readonly epoch: number; readonly enabled: boolean }
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
  /** The server renders the face, and this shows it. */
  readonly film?: CallFilm | null;
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

/** Numbers of a key: its sample, and five weights. */
const MOUTH_FIELDS = 6;

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
    case "mouth":
      return { type, epoch, reply, keys: Array.isArray(fields["keys"]) ? fields["keys"].filter(isMouthKey) : [] };
    case "video_segment": {
      const segment = videoSegment(fields);
      return segment && { type, epoch, reply, segment };
    }
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
    case "video_mode":
      return { type, epoch, enabled: fields["enabled"] === true };
    case "video_segment": {
      const segment = videoSegment(fields);
      return segment && { type: "video_idle", epoch, segment };
    }
    case "voice":
      return { type, epoch, voice: text(fields["voice"]) };
    default:
      return null;
  }
}

function isMouthKey(value: unknown): value is MouthKey {
  return Array.isArray(value) && value.length >= MOUTH_FIELDS && value.every((each) => Number.isFinite(each));
}

/** Null where a number is missing or makes no sense. */
function videoSegment(fields: JsonObject): VideoSegment | null {
  const [at, first, rate] = [nonNegative(fields["at"]), integer(fields["first"]), nonNegative(fields["rate"])];
  const sizes = Array.isArray(fields["sizes"]) ? fields["sizes"].map(nonNegative) : [null];
  if (at === null || first === null || first < 0 || !rate || sizes.some((size) => size === null)) return null;
  return { at, first, rate, codec: text(fields["codec"]) || null, sizes: sizes as number[], data: text(fields["data"]) };
}

function captionWords(value: unknown): CaptionWord[] {
  if (!isObject(value)) return [];
  const fields = value;
  const [start, end] = [nonNegative(fields["start_ms"]), nonNegative(fields["end_ms"])];
  if (start === null || end === null || end < start) return [];
  const [at, to] = [integer(fields["at"]), integer(fields["to"])];
  return [{ text: text(fields["text"]), start, end, ...(at !== null && to !== null && at >= 0 && to >= at ? { at, to } : {}) }];
}

/** The first message of a call. `features`: this client can pause and resume, reports what was played, shows the
 * figures of units, and draws faces. */
export function startMessage({ conversation, model, voice, speed, language, record = false, film = null }: CallStart): string {
  return JSON.stringify({
    type: "start",
    features: ["pause", "played", "units", "mouth"],
    // Never clips: a reply would be heard only once all of it is spoken and drawn.
    video: film ? "stream" : "off",
    ...(film ? { avatar: film.avatar } : {}),
    ...(conversation === null ? {} : { conversation_id: conversation }),
    ...(model === "" ? {} : { model }),
    ...(voice === "" ? {} : { voice }),
    ...(language === "" ? {} : { language }),
    ...(speed === 1 ? {} : { speed }),
    ...(record ? { record } : {}),
  });
}
