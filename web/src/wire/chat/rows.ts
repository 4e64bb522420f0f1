// Conversations and messages as the server stores them. The server omits default values; `messageOf` and
// `conversationOf` restore them, so that the rest of the page can rely on every field.

import type { GenerationOptions } from "../server/settings";

export interface TextContent {
  readonly type: "text";
  readonly text: string;
}

export interface FileContent {
  readonly type: "image" | "audio" | "video" | "document";
  readonly blob: string;
  readonly mime: string;
  readonly name?: string;
  readonly shown?: string;
  readonly width?: number;
  readonly height?: number;
  readonly given?: "text" | "pages";
}

export interface ResourceContent {
  readonly type: "resource";
  readonly server: string;
  readonly uri: string;
  readonly name?: string;
  readonly mime?: string;
  readonly text?: string;
  readonly blob?: string;
}

export type Content = TextContent | FileContent | ResourceContent;

/** Content as it is sent: a file by hash and name only; the server knows the rest. */
export type OutgoingContent =
  | TextContent
  | ResourceContent
  | { readonly type: "file"; readonly blob: string; readonly name: string; readonly given?: "text" | "pages" };

export type Role = "system" | "user" | "assistant" | "tool";
export type Status = "running" | "done" | "stopped" | "failed" | "interrupted";
export type ToolCallState = "waiting" | "asked" | "running" | "done" | "failed" | "denied" | "expired" | "skipped";
export type Finish = "stop" | "length" | "tool_calls" | "cancelled";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ToolCallRecord {
  readonly name: string;
  readonly arguments: string;
  readonly server: string;
  readonly tool: string;
  readonly state: ToolCallState;
  readonly ms: number;
}

export interface RowError {
  readonly kind: string;
  readonly code: string;
  readonly message: string;
}

export interface Usage {
  readonly input?: number;
  readonly output?: number;
  /** Part of `input` that came from the prompt cache. */
  readonly cached?: number;
  /** Part of `output` that was reasoning. */
  readonly reasoning?: number;
  readonly estimated?: boolean;
}

/** Milliseconds. */
export interface Timings {
  readonly queue?: number;
  readonly generate?: number;
  readonly first?: number;
}

/** One change to a file of the prompt before the model got it; `where` is its path there. */
export interface FittingNote {
  readonly where: string;
  readonly kind: "image" | "audio" | "video";
  readonly became: "text" | "frames" | "frames_and_sound" | "resized" | "left_out";
  /** Frames. */
  readonly count?: number;
  /** Of sound or video. */
  readonly seconds?: number;
}

/** Sound that was written down; `message` and `part` are its place in the prompt. */
export interface WrittenSound {
  readonly message: number;
  readonly part: number;
  readonly text: string;
  readonly understood?: boolean;
}

/** What was made of files that the model does not take as they are. */
export interface FittedMedia {
  readonly transcripts?: readonly WrittenSound[];
  readonly notes?: readonly FittingNote[];
}

/** One message of the conversation tree. Times are milliseconds since 1970, 0 where unknown. */
export interface Message {
  readonly id: string;
  readonly parent: string | null;
  readonly role: Role;
  readonly content: readonly Content[];
  readonly sequence: number;
  readonly created: number;
  readonly status: Status;
  readonly kind: "message" | "summary";
  readonly reasoning: string;
  readonly tool_calls: readonly ToolCall[];
  readonly tool_call_id: string;
  readonly call: ToolCallRecord | null;
  readonly model: string;
  readonly finish: Finish | null;
  readonly usage: Usage | null;
  readonly timings: Timings | null;
  readonly error: RowError | null;
  readonly run: string;
  readonly edited: number;
  /** Of a model's turn: what was made of files for it. */
  readonly fitted: FittedMedia | null;
}

const DEFAULT_MESSAGE = {
  content: [],
  sequence: 0,
  created: 0,
  status: "done",
  kind: "message",
  reasoning: "",
  tool_calls: [],
  tool_call_id: "",
  call: null,
  model: "",
  finish: null,
  usage: null,
  timings: null,
  error: null,
  run: "",
  edited: 0,
  fitted: null,
} as const;

const DEFAULT_TOOL_CALL = { arguments: "", server: "", tool: "", state: "waiting", ms: 0 } as const;

export type SparseMessage = Pick<Message, "id" | "parent" | "role"> & Partial<Omit<Message, "call">> & { readonly call?: Partial<ToolCallRecord> | null };

export function messageOf(sparse: SparseMessage): Message {
  const call = sparse.call ? { name: "", ...DEFAULT_TOOL_CALL, ...sparse.call } : null;
  return { ...DEFAULT_MESSAGE, ...sparse, call };
}

/** The text of a content, joined. */
export function textOf(content: readonly Content[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Everything but the text. */
export function filesOf(content: readonly Content[]): Exclude<Content, TextContent>[] {
  return content.filter((part) => part.type !== "text");
}

/** Stored content in the form that is sent, with another text. */
export function resendable(content: readonly Content[], text: string): OutgoingContent[] {
  const files = filesOf(content).map(
    (part): OutgoingContent =>
      part.type === "resource"
        ? part
        : { type: "file", blob: part.blob, name: part.name ?? "", ...(part.type === "document" && part.given ? { given: part.given } : {}) },
  );
  return [...files, ...(text.trim() === "" ? [] : [{ type: "text", text } as const])];
}

/** A message's content with its text replaced. */
export function withNewText(content: readonly Content[], text: string): Content[] {
  if (textOf(content) === text) return [...content];
  return [...(text.trim() === "" ? [] : [{ type: "text", text } as const]), ...content.filter(({ type }) => type !== "text")];
}

export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly created: number;
  readonly updated: number;
  readonly leaf: string | null;
  readonly running: string | null;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly temporary: boolean;
  readonly folder: string | null;
  readonly tags: readonly string[];
  readonly forked_from: string | null;
  readonly options: GenerationOptions;
}

export type SparseConversation = Pick<Conversation, "id"> & Partial<Conversation>;

const DEFAULT_CONVERSATION = {
  title: "",
  created: 0,
  updated: 0,
  leaf: null,
  running: null,
  pinned: false,
  archived: false,
  temporary: false,
  folder: null,
  tags: [],
  forked_from: null,
  options: {},
} as const;

export function conversationOf(sparse: SparseConversation): Conversation {
  return { ...DEFAULT_CONVERSATION, ...sparse };
}

/** A message sent while a reply was running. */
export interface PendingMessage {
  readonly id: string;
  readonly content: readonly Content[];
  /** "hold": the reply before it did not end well, so the user decides. */
  readonly how?: "queue" | "steer" | "hold";
}

/** A question to the user; `kind` defaults to "tool". */
export interface Approval {
  readonly id: string;
  readonly run: string;
  readonly conversation: string;
  readonly kind?: "tool" | "form" | "link";
  readonly server?: string;
  readonly tool?: string;
  readonly arguments?: string;
  readonly message?: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
}

export interface SearchHit {
  readonly conversation: string;
  readonly title: string;
  readonly message: string;
  readonly role: Role;
  readonly created: number;
  readonly archived?: boolean;
  readonly snippet: string;
  readonly marks?: readonly (readonly [number, number])[];
}

export interface StoredFile {
  readonly hash: string;
  readonly mime: string;
  readonly size: number;
  readonly name?: string;
  readonly width?: number;
  readonly height?: number;
}

/** 16 random bytes in hex. `crypto.randomUUID` needs a secure context, and the page also runs over plain HTTP in a
 * local network. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
