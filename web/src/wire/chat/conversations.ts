// Typed client of the conversation API. Ids are made here, so a command that is sent twice is executed once.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";
import {
  type Approval,
  type Conversation,
  conversationOf,
  type Message,
  messageOf,
  type OutgoingContent,
  type PendingMessage,
  type SearchHit,
  type SparseConversation,
  type SparseMessage,
} from "./rows";
import { thread as words } from "../../language/en/chat/thread";
import type { Run } from "./runs";
import type { GenerationOptions } from "../server/settings";

/** Options of one run. */
export type RunOptions = GenerationOptions;

/** Initial fields of a new conversation. */
export interface NewConversation {
  readonly system?: string;
  readonly options?: GenerationOptions;
  readonly temporary?: boolean;
  readonly folder?: string;
}

interface BaseRunCommand {
  readonly run: string;
  readonly options: RunOptions;
}

export type RunCommand =
  | (BaseRunCommand & {
      readonly verb: "send";
      readonly message: { readonly id: string; readonly content: readonly OutgoingContent[] };
      /** Absent: the conversation's current leaf. */
      readonly parent?: string | null;
      readonly busy: "refuse" | "queue" | "steer";
    })
  | (BaseRunCommand & { readonly verb: "regenerate"; readonly message: string })
  | (BaseRunCommand & { readonly verb: "continue"; readonly message: string })
  | (BaseRunCommand & {
      readonly verb: "edit";
      readonly message: string;
      readonly new: { readonly id: string; readonly content: readonly OutgoingContent[] };
    });

/** Result of a command: a run, or a message queued behind the running one. */
export type StartResult = Run | { readonly pending: PendingMessage };

export interface ConversationDetail {
  readonly conversation: Conversation;
  readonly messages: readonly Message[];
  readonly run: Run | null;
  readonly pending: readonly PendingMessage[];
  readonly approvals: readonly Approval[];
}

/** Filter of a conversation list. */
export interface View {
  readonly archived: boolean;
  readonly folder: string | null;
  readonly tag: string | null;
}

export interface ConversationPage {
  readonly conversations: readonly Conversation[];
  readonly next: string | null;
}

export type BulkAction = "archive" | "unarchive" | "delete" | "restore" | "pin" | "unpin" | "move";

/** Number of messages that deleting one would remove. */
export interface DeletionPreview {
  readonly messages: number;
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
}

export type ContextKind = "system" | "tools" | "summary" | "user" | "assistant" | "tool" | "files";

/** Tokens used of the model's context window. `parts` are estimated by their share of the text. */
export interface ContextFill {
  readonly tokens: number;
  readonly context: number;
  /** The engine has no tokenizer; `tokens` is an estimate. */
  readonly estimated?: boolean;
  /** Tokens left for the reply. */
  readonly reply_room: number;
  readonly parts: readonly { readonly what: ContextKind; readonly tokens: number }[];
}

export type Decision = "once" | "tool" | "server" | "deny";
export type ApprovalAnswer = { readonly decision: Decision } | { readonly action: "accept" | "decline" | "cancel"; readonly values: Readonly<Record<string, unknown>> };

/** `skipped` already existed; `problems` are sentences about what was left out. */
export interface ImportReport {
  readonly imported: number;
  readonly skipped: number;
  readonly problems: readonly string[];
  readonly conversations: readonly string[];
}

type Changes = Readonly<Partial<Record<"title" | "leaf" | "pinned" | "archived" | "folder" | "tags" | "options", unknown>>>;

// Largest number of ids in one bulk request.
const BULK_LIMIT = 1000;
// Largest page of a list.
const LARGEST_PAGE = 200;
const BULK_TIMEOUT_MS = 60_000;
// A title waits for a free slot of the model.
const TITLE_TIMEOUT_MS = 120_000;
const COMPACT_TIMEOUT_MS = 150_000;
// An import parses and stores the whole file before it answers.
const IMPORT_TIMEOUT_MS = 120_000;

function mapAnswer<From, To>(answer: Answer<From>, change: (value: From) => To): Answer<To> {
  return answer.kind === "ok" ? { kind: "ok", value: change(answer.value) } : answer;
}

interface SparseConversationDetail {
  readonly conversation: SparseConversation;
  readonly messages: readonly SparseMessage[];
  readonly run?: Run | null;
  readonly pending?: readonly PendingMessage[];
  readonly approvals?: readonly Approval[];
}

export class ConversationClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** `before` is the cursor `next` of the previous page; `limit` its size, null for the server's default. */
  async list({ archived, folder, tag }: View, before: string | null = null, limit: number | null = null): Promise<Answer<ConversationPage>> {
    const query = new URLSearchParams();
    if (limit !== null) query.set("limit", String(limit));
    if (archived) query.set("archived", "true");
    if (folder !== null) query.set("folder", folder);
    if (tag !== null) query.set("tag", tag);
    if (before !== null) query.set("before", before);
    const answer = await request<{ conversations: SparseConversation[]; next?: string | null }>(this.#fetch, `api/conversations${query.size ? `?${query}` : ""}`);
    return mapAnswer(answer, ({ conversations, next = null }) => ({ conversations: conversations.map(conversationOf), next }));
  }

  /** Ids of all conversations, archived ones included; those in one folder if `folder` is given. */
  async ids(folder: string | null = null): Promise<Answer<readonly string[]>> {
    const ids = new Set<string>();
    for (const archived of [false, true]) {
      let before: string | null = null;
      do {
        const answer: Answer<ConversationPage> = await this.list({ archived, folder, tag: null }, before, LARGEST_PAGE);
        if (answer.kind !== "ok") return answer;
        for (const { id } of answer.value.conversations) ids.add(id);
        before = answer.value.next;
      } while (before !== null);
    }
    return { kind: "ok", value: [...ids] };
  }

  /** One that is not there is refused with 404; the server is asked for 204, because browsers report every 404 on the console. */
  async open(id: string): Promise<Answer<ConversationDetail>> {
    const answer = await request<SparseConversationDetail | null>(this.#fetch, `${this.#at(id)}?if_exists=true`);
    if (answer.kind === "ok" && answer.value === null) return { kind: "refused", status: 404, code: "not_found", message: words().missing };
    return mapAnswer(answer as Answer<SparseConversationDetail>, ({ conversation, messages, run = null, pending = [], approvals = [] }) => ({
      conversation: conversationOf(conversation),
      messages: messages.map(messageOf),
      run,
      pending,
      approvals,
    }));
  }

  async create(id: string, options: NewConversation = {}): Promise<Answer<Conversation>> {
    return mapAnswer(await sendJson<SparseConversation>(this.#fetch, "POST", "api/conversations", { id, ...options }), conversationOf);
  }

  /** Stores which branch is shown. The request survives the page, which may be reloaded at once. */
  showBranch(id: string, leaf: string | null): Promise<Answer<unknown>> {
    return request(this.#fetch, this.#at(id), { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ leaf }), keepalive: true });
  }

  async change(id: string, changes: Changes): Promise<Answer<Conversation>> {
    return mapAnswer(await sendJson<SparseConversation>(this.#fetch, "PATCH", this.#at(id), changes), conversationOf);
  }

  /** Applies one action to many, in batches the server accepts; stops at the first failure. `folder` is the target of
   * "move". */
  async bulk(ids: readonly string[], verb: BulkAction, folder: string | null = null): Promise<Answer<unknown>> {
    for (let start = 0; start < ids.length; start += BULK_LIMIT) {
      const body = { ids: ids.slice(start, start + BULK_LIMIT), do: verb, ...(folder === null ? {} : { folder }) };
      const answer = await sendJson(this.#fetch, "POST", "api/conversations/bulk", body, BULK_TIMEOUT_MS);
      if (answer.kind !== "ok") return answer;
    }
    return { kind: "ok", value: null };
  }

  /** Generates a title with the model. */
  async title(id: string): Promise<Answer<Conversation>> {
    return mapAnswer(await sendJson<SparseConversation>(this.#fetch, "POST", `${this.#at(id)}/title`, undefined, TITLE_TIMEOUT_MS), conversationOf);
  }

  start(id: string, verb: RunCommand): Promise<Answer<StartResult>> {
    return sendJson(this.#fetch, "POST", `${this.#at(id)}/runs`, verb);
  }

  stop(run: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "POST", `api/runs/${run}/stop`);
  }

  changePending(id: string, pending: string, changes: { readonly how: "queue" | "steer" }): Promise<Answer<PendingMessage>> {
    return sendJson(this.#fetch, "PATCH", `${this.#at(id)}/pending/${pending}`, changes);
  }

  dropPending(id: string, pending: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", `${this.#at(id)}/pending/${pending}`);
  }

  answer(approval: string, given: ApprovalAnswer): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "POST", `api/approvals/${approval}`, given);
  }

  /** Replaces a message's content without regenerating what follows. */
  rewrite(id: string, message: string, content: readonly OutgoingContent[]): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "PATCH", `${this.#at(id)}/messages/${message}`, { content });
  }

  deletion(id: string, message: string): Promise<Answer<DeletionPreview>> {
    return request(this.#fetch, `${this.#at(id)}/messages/${message}/deletion`);
  }

  deleteMessage(id: string, message: string): Promise<Answer<{ readonly deleted: readonly string[]; readonly leaf: string | null }>> {
    return sendJson(this.#fetch, "DELETE", `${this.#at(id)}/messages/${message}`);
  }

  /** Undoes the deletion of a message and of all that was deleted with it. */
  restoreMessage(id: string, message: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "POST", `${this.#at(id)}/messages/${message}/restore`);
  }

  /** Copies the path up to `message` into a new conversation with the id `fork`. */
  async fork(id: string, fork: string, message: string): Promise<Answer<Conversation>> {
    return mapAnswer(await sendJson<SparseConversation>(this.#fetch, "POST", `${this.#at(id)}/fork`, { id: fork, message }), conversationOf);
  }

  /** Sets the system message; an empty text removes it. */
  putSystem(id: string, text: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "PUT", `${this.#at(id)}/system`, { text });
  }

  context(id: string, leaf: string | null): Promise<Answer<ContextFill>> {
    return request(this.#fetch, `${this.#at(id)}/context${leaf === null ? "" : `?leaf=${encodeURIComponent(leaf)}`}`);
  }

  /** Summarises the oldest turns into a new message with the id `summary`. */
  compact(id: string, summary: string, leaf: string | null): Promise<Answer<SparseMessage>> {
    return sendJson(this.#fetch, "POST", `${this.#at(id)}/compact`, { id: summary, ...(leaf === null ? {} : { leaf }) }, COMPACT_TIMEOUT_MS);
  }

  async search(query: string, signal: AbortSignal): Promise<Answer<readonly SearchHit[]>> {
    const answer = await request<{ hits: readonly SearchHit[] }>(this.#fetch, `api/search?q=${encodeURIComponent(query)}&limit=50`, { signal });
    return mapAnswer(answer, ({ hits }) => hits);
  }

  import(name: string, body: string): Promise<Answer<ImportReport>> {
    return request(this.#fetch, `api/import?name=${encodeURIComponent(name)}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body,
      signal: AbortSignal.timeout(IMPORT_TIMEOUT_MS),
    });
  }

  /** Whether a file can be used in a message. */
  inspect(hash: string): Promise<Answer<{ readonly code: string; readonly message: string; readonly scan: boolean }>> {
    return request(this.#fetch, `api/blobs/${hash}/inspection`);
  }

  /** Whether there is a thumbnail of a file, and why not. */
  thumbnail(hash: string): Promise<Answer<unknown>> {
    return request(this.#fetch, thumbnailAddress(hash, 96));
  }

  #at(id: string): string {
    return `api/conversations/${encodeURIComponent(id)}`;
  }
}

/** Address of a conversation's export, relative to the page. JSONL can be imported again. */
export function exportAddress(id: string, format: "markdown" | "jsonl"): string {
  return `api/conversations/${encodeURIComponent(id)}/export?format=${format}`;
}

/** Address of a stored file, relative to the page. */
export function blobAddress(hash: string): string {
  return `api/blobs/${hash}`;
}

export function thumbnailAddress(hash: string, side = 256): string {
  return `api/blobs/${hash}/thumbnail?side=${side}`;
}
