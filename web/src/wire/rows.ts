// Conversations as the server keeps them: the rows of the tree and what stands around them. Owns their shapes; the
// server leaves out what is as usual, and here it is put back, so that nobody after this has to ask.

import type { GenerationOptions } from "./settings";

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

/** Content as it is sent: of a file only its name and hash, the server knows the rest. */
export type SentContent =
  | TextContent
  | ResourceContent
  | { readonly type: "file"; readonly blob: string; readonly name: string; readonly given?: "text" | "pages" };

export type Role = "system" | "user" | "assistant" | "tool";
export type Status = "running" | "done" | "stopped" | "failed" | "interrupted";
export type CallState = "waiting" | "asked" | "running" | "done" | "failed" | "denied" | "expired" | "skipped";
export type Finish = "stop" | "length" | "tool_calls" | "cancelled";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface CallRecord {
  readonly name: string;
  readonly arguments: string;
  readonly server: string;
  readonly tool: string;
  readonly state: CallState;
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
  /** Of `input`, kept from an earlier reply. */
  readonly cached?: number;
  /** Of `output`, thought and not said. */
  readonly reasoning?: number;
  readonly estimated?: boolean;
}

/** Milliseconds. */
export interface Timings {
  readonly queue?: number;
  readonly generate?: number;
  readonly first?: number;
}

/** One row of the tree. Times are milliseconds since 1970, 0 where unknown. */
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
  readonly call: CallRecord | null;
  readonly model: string;
  readonly finish: Finish | null;
  readonly usage: Usage | null;
  readonly timings: Timings | null;
  readonly error: RowError | null;
  readonly run: string;
  readonly edited: number;
}

const USUAL_MESSAGE = {
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
} as const;

const USUAL_CALL = { arguments: "", server: "", tool: "", state: "waiting", ms: 0 } as const;

export type SparseMessage = Pick<Message, "id" | "parent" | "role"> & Partial<Omit<Message, "call">> & { readonly call?: Partial<CallRecord> | null };

export function messageOf(sparse: SparseMessage): Message {
  const call = sparse.call ? { name: "", ...USUAL_CALL, ...sparse.call } : null;
  return { ...USUAL_MESSAGE, ...sparse, call };
}

/** The text of a content, joined. */
export function textOf(content: readonly Content[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** What stands beside the text. */
export function filesOf(content: readonly Content[]): Exclude<Content, TextContent>[] {
  return content.filter((part) => part.type !== "text");
}

/** Stored content, to be sent once more with another text. */
export function sentAgain(content: readonly Content[], text: string): SentContent[] {
  const files = filesOf(content).map(
    (part): SentContent =>
      part.type === "resource"
        ? part
        : { type: "file", blob: part.blob, name: part.name ?? "", ...(part.type === "document" && part.given ? { given: part.given } : {}) },
  );
  return [...files, ...(text.trim() === "" ? [] : [{ type: "text", text } as const])];
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

const USUAL_CONVERSATION = {
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
  return { ...USUAL_CONVERSATION, ...sparse };
}

/** What was sent while a reply was running. */
export interface PendingMessage {
  readonly id: string;
  readonly content: readonly Content[];
  readonly how?: "queue" | "steer";
}

/** A question only the person can answer; `tool` unless said otherwise. */
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

export interface Hit {
  readonly conversation: string;
  readonly title: string;
  readonly message: string;
  readonly role: Role;
  readonly created: number;
  readonly archived?: boolean;
  readonly snippet: string;
  readonly marks?: readonly (readonly [number, number])[];
}

export interface Kept {
  readonly hash: string;
  readonly mime: string;
  readonly size: number;
  readonly name?: string;
  readonly width?: number;
  readonly height?: number;
}

/** Of 16 random bytes; `crypto.randomUUID` is missing on plain HTTP pages of another machine. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
