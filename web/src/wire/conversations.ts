// The server's API of conversations, typed: every command as a function that gives an answer. Commands carry ids made
// here, so that the same one sent twice is done once. Knows no page.
import { type Answer, ask, type Fetch, tell } from "./transport/http";
import {
  type Approval,
  type Conversation,
  conversationOf,
  type Hit,
  type Message,
  messageOf,
  type PendingMessage,
  type SentContent,
  type SparseConversation,
  type SparseMessage,
} from "./rows";
import type { Run } from "./runs";
import type { GenerationOptions } from "./settings";

/** How a reply is made, as far as the page has a say. */
export type RunOptions = GenerationOptions;

/** What a conversation begins with. */
export interface Beginning {
  readonly system?: string;
  readonly options?: GenerationOptions;
  readonly temporary?: boolean;
  readonly folder?: string;
}

interface Asked {
  readonly run: string;
  readonly options: RunOptions;
}

export type Verb =
  | (Asked & {
      readonly verb: "send";
      readonly message: { readonly id: string; readonly content: readonly SentContent[] };
      /** Absent: where the conversation stands. */
      readonly parent?: string | null;
      readonly busy: "refuse" | "queue" | "steer";
    })
  | (Asked & { readonly verb: "regenerate"; readonly message: string })
  | (Asked & { readonly verb: "continue"; readonly message: string })
  | (Asked & {
      readonly verb: "edit";
      readonly message: string;
      readonly new: { readonly id: string; readonly content: readonly SentContent[] };
    });

/** What a verb led to: a run, or a message that waits for the one that is on. */
export type Started = Run | { readonly pending: PendingMessage };

export interface Opened {
  readonly conversation: Conversation;
  readonly messages: readonly Message[];
  readonly run: Run | null;
  readonly pending: readonly PendingMessage[];
  readonly approvals: readonly Approval[];
}

/** Which conversations a list is about. */
export interface View {
  readonly archived: boolean;
  readonly folder: string | null;
  readonly tag: string | null;
}

export interface Listed {
  readonly conversations: readonly Conversation[];
  readonly next: string | null;
}

export type BulkVerb = "archive" | "unarchive" | "delete" | "restore" | "pin" | "unpin" | "move";

/** What deleting a message would take along. */
export interface Deletion {
  readonly messages: number;
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
}

export type ContextKind = "system" | "tools" | "summary" | "user" | "assistant" | "tool" | "files";

/** How full a model's context is, in tokens. The parts are shares of the whole by their length. */
export interface ContextFill {
  readonly tokens: number;
  readonly context: number;
  /** The model could not count. */
  readonly estimated?: boolean;
  /** Left for the reply. */
  readonly reply_room: number;
  readonly parts: readonly { readonly what: ContextKind; readonly tokens: number }[];
}

export type Decision = "once" | "tool" | "server" | "deny";
export type Given = { readonly decision: Decision } | { readonly action: "accept" | "decline" | "cancel"; readonly values: Readonly<Record<string, unknown>> };

export interface Imported {
  readonly imported: number;
  readonly skipped: number;
  readonly conversations: readonly string[];
}

type Changes = Readonly<Partial<Record<"title" | "leaf" | "pinned" | "archived" | "folder" | "tags" | "options", unknown>>>;

// The server takes so many in one command.
const AT_ONCE = 1000;
const BULK_PATIENCE = 60_000;
// A model thinks of a title when it is its turn.
const TITLE_PATIENCE = 120_000;
const COMPACT_PATIENCE = 150_000;
// An import reads and writes as much as the file holds.
const IMPORT_PATIENCE = 120_000;

function mapped<From, To>(answer: Answer<From>, change: (value: From) => To): Answer<To> {
  return answer.kind === "ok" ? { kind: "ok", value: change(answer.value) } : answer;
}

interface SparseOpened {
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

  /** `before` is the `next` of the page before. */
  async list({ archived, folder, tag }: View, before: string | null = null): Promise<Answer<Listed>> {
    const query = new URLSearchParams();
    if (archived) query.set("archived", "true");
    if (folder !== null) query.set("folder", folder);
    if (tag !== null) query.set("tag", tag);
    if (before !== null) query.set("before", before);
    const answer = await ask<{ conversations: SparseConversation[]; next?: string | null }>(this.#fetch, `api/conversations${query.size ? `?${query}` : ""}`);
    return mapped(answer, ({ conversations, next = null }) => ({ conversations: conversations.map(conversationOf), next }));
  }

  async open(id: string): Promise<Answer<Opened>> {
    const answer = await ask<SparseOpened>(this.#fetch, this.#at(id));
    return mapped(answer, ({ conversation, messages, run = null, pending = [], approvals = [] }) => ({
      conversation: conversationOf(conversation),
      messages: messages.map(messageOf),
      run,
      pending,
      approvals,
    }));
  }

  async create(id: string, beginning: Beginning = {}): Promise<Answer<Conversation>> {
    return mapped(await tell<SparseConversation>(this.#fetch, "POST", "api/conversations", { id, ...beginning }), conversationOf);
  }

  async change(id: string, changes: Changes): Promise<Answer<Conversation>> {
    return mapped(await tell<SparseConversation>(this.#fetch, "PATCH", this.#at(id), changes), conversationOf);
  }

  /** The same for many, as many at once as the server takes; ends at the first that fails. `folder` is for "move". */
  async bulk(ids: readonly string[], verb: BulkVerb, folder: string | null = null): Promise<Answer<unknown>> {
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = { ids: ids.slice(start, start + AT_ONCE), do: verb, ...(folder === null ? {} : { folder }) };
      const answer = await tell(this.#fetch, "POST", "api/conversations/bulk", some, BULK_PATIENCE);
      if (answer.kind !== "ok") return answer;
    }
    return { kind: "ok", value: null };
  }

  /** Let the model write a title. */
  async title(id: string): Promise<Answer<Conversation>> {
    return mapped(await tell<SparseConversation>(this.#fetch, "POST", `${this.#at(id)}/title`, undefined, TITLE_PATIENCE), conversationOf);
  }

  start(id: string, verb: Verb): Promise<Answer<Started>> {
    return tell(this.#fetch, "POST", `${this.#at(id)}/runs`, verb);
  }

  stop(run: string): Promise<Answer<unknown>> {
    return tell(this.#fetch, "POST", `api/runs/${run}/stop`);
  }

  changePending(id: string, pending: string, changes: { readonly how: "queue" | "steer" }): Promise<Answer<PendingMessage>> {
    return tell(this.#fetch, "PATCH", `${this.#at(id)}/pending/${pending}`, changes);
  }

  dropPending(id: string, pending: string): Promise<Answer<unknown>> {
    return tell(this.#fetch, "DELETE", `${this.#at(id)}/pending/${pending}`);
  }

  answer(approval: string, given: Given): Promise<Answer<unknown>> {
    return tell(this.#fetch, "POST", `api/approvals/${approval}`, given);
  }

  /** Change what a message says, and nothing after it. */
  rewrite(id: string, message: string, content: readonly SentContent[]): Promise<Answer<unknown>> {
    return tell(this.#fetch, "PATCH", `${this.#at(id)}/messages/${message}`, { content });
  }

  deletion(id: string, message: string): Promise<Answer<Deletion>> {
    return ask(this.#fetch, `${this.#at(id)}/messages/${message}/deletion`);
  }

  deleteMessage(id: string, message: string): Promise<Answer<{ readonly deleted: readonly string[]; readonly leaf: string | null }>> {
    return tell(this.#fetch, "DELETE", `${this.#at(id)}/messages/${message}`);
  }

  /** A copy of the path up to `message`, as a conversation of its own. */
  async fork(id: string, fork: string, message: string): Promise<Answer<Conversation>> {
    return mapped(await tell<SparseConversation>(this.#fetch, "POST", `${this.#at(id)}/fork`, { id: fork, message }), conversationOf);
  }

  /** The system message; an empty text takes it away. */
  putSystem(id: string, text: string): Promise<Answer<unknown>> {
    return tell(this.#fetch, "PUT", `${this.#at(id)}/system`, { text });
  }

  context(id: string, leaf: string | null): Promise<Answer<ContextFill>> {
    return ask(this.#fetch, `${this.#at(id)}/context${leaf === null ? "" : `?leaf=${encodeURIComponent(leaf)}`}`);
  }

  /** Fold the oldest turns into a summary, which gets this id. */
  compact(id: string, summary: string, leaf: string | null): Promise<Answer<SparseMessage>> {
    return tell(this.#fetch, "POST", `${this.#at(id)}/compact`, { id: summary, ...(leaf === null ? {} : { leaf }) }, COMPACT_PATIENCE);
  }

  async search(query: string, signal: AbortSignal): Promise<Answer<readonly Hit[]>> {
    const answer = await ask<{ hits: readonly Hit[] }>(this.#fetch, `api/search?q=${encodeURIComponent(query)}&limit=50`, { signal });
    return mapped(answer, ({ hits }) => hits);
  }

  import(name: string, body: string): Promise<Answer<Imported>> {
    return ask(this.#fetch, `api/import?name=${encodeURIComponent(name)}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body,
      signal: AbortSignal.timeout(IMPORT_PATIENCE),
    });
  }

  #at(id: string): string {
    return `api/conversations/${encodeURIComponent(id)}`;
  }
}

/** A conversation as a file, relative to the page: to read, or to be imported again. */
export function exportAddress(id: string, format: "markdown" | "jsonl"): string {
  return `api/conversations/${encodeURIComponent(id)}/export?format=${format}`;
}

/** Where a kept file lies, relative to the page. */
export function blobAddress(hash: string): string {
  return `api/blobs/${hash}`;
}

export function thumbnailAddress(hash: string, side = 256): string {
  return `api/blobs/${hash}/thumbnail?side=${side}`;
}
