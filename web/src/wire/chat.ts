// The messages of the chat socket: what the page asks and what the server says. Owns their shapes and the reading
// of a frame; a type it does not know is null, to be skipped. Knows no socket.

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface ChatRequest {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
  readonly streaming: true;
  readonly progress: true;
  readonly model?: string;
  readonly enable_thinking?: boolean;
}

export interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

export type FinishReason = "stop" | "length" | "tool_calls" | "cancelled";

interface Waiting {
  readonly id?: string;
  readonly position: number;
  readonly queue_length?: number;
  readonly estimated_wait_s?: number;
}

export type ServerMessage =
  | ({ readonly type: "queued" } & Waiting)
  | ({ readonly type: "queue_update" } & Waiting)
  | { readonly type: "queue_done"; readonly id?: string }
  | { readonly type: "progress"; readonly id?: string; readonly processed: number; readonly total: number; readonly cached?: number }
  | { readonly type: "prefill_done"; readonly id?: string; readonly input_tokens?: number | null; readonly cached_tokens?: number }
  | {
      readonly type: "chunk";
      readonly id?: string;
      readonly text_delta?: string;
      readonly reasoning_delta?: string;
      readonly tool_calls?: readonly ToolCallDelta[];
    }
  | {
      readonly type: "done";
      readonly id?: string;
      readonly text?: string;
      readonly reasoning?: string | null;
      readonly finish_reason?: FinishReason;
      readonly generated_tokens?: number;
      readonly input_tokens?: number | null;
      readonly timings?: {
        readonly queue_ms?: number;
        readonly prefill_ms?: number;
        readonly generate_ms?: number;
        readonly first_token_ms?: number;
        readonly first_ms?: number;
      };
      readonly model?: string;
    }
  | { readonly type: "error"; readonly id?: string; readonly code?: string; readonly message?: string; readonly error?: string };

const TYPES = new Set(["queued", "queue_update", "queue_done", "progress", "prefill_done", "chunk", "done", "error"]);

/** A frame as a message; null for what this page does not know, which is skipped. */
export function read(frame: unknown): ServerMessage | null {
  if (typeof frame !== "string") return null;
  try {
    const message: unknown = JSON.parse(frame);
    if (typeof message !== "object" || message === null || !("type" in message)) return null;
    return TYPES.has(String(message.type)) ? (message as ServerMessage) : null;
  } catch {
    return null;
  }
}

/** Whether a message is the last one of its request. */
export function isLast(message: ServerMessage): boolean {
  return message.type === "done" || message.type === "error";
}
