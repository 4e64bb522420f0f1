// An in-memory fake of the conversation API that answers at once and streams replies token by token as the test
// directs. It follows the real server's rules as far as the tests need them.
import type { Fetch } from "../src/wire/transport/http";
import type { Folder } from "../src/wire/chat/folders";
import { type SparseMessage, textOf } from "../src/wire/chat/rows";
import type { RunEvent } from "../src/wire/chat/runs";

export interface RecordedRequest {
  readonly method: string;
  readonly address: string;
  readonly body: any;
  readonly headers: Record<string, string>;
}

interface Marks {
  archived?: boolean;
  pinned?: boolean;
  temporary?: boolean;
  folder?: string | null;
  tags?: string[];
}

interface StoredConversation {
  conversation: { id: string; title: string; leaf: string | null; running: string | null; updated: number } & Marks;
  messages: SparseMessage[];
  pending: { id: string; content: unknown; how: string }[];
}

interface Connection {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly signal: AbortSignal | null | undefined;
}

const encoder = new TextEncoder();

/** Waits until all pending promises have settled. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export class FakeServer {
  readonly requests: RecordedRequest[] = [];
  readonly conversations = new Map<string, StoredConversation>();
  readonly folders = new Map<string, Folder>();
  /** Page size of lists. */
  page = 50;
  readonly logs = new Map<string, RunEvent[]>();
  readonly connections = new Map<string, Connection[]>();
  /** Requests fail. */
  unreachable = false;
  /** The next command is refused with this. */
  refusal: { status: number; code: string; message: string } | null = null;
  /** Reads of conversations and runs are refused with this. */
  gone: { status: number; code: string; message: string } | null = null;
  /** New runs wait for this. */
  gate: Promise<void> | null = null;
  /** Answers to reads are delayed until this, with the content at the time of the request. */
  readDelay: Promise<void> | null = null;
  /** Called before each request is handled. */
  before: (method: string) => Promise<void> = async () => {};
  readonly #deleted = new Map<string, StoredConversation>();
  #number = 0;

  readonly fetch: Fetch = async (address, init = {}) => {
    const method = init.method ?? "GET";
    const body = typeof init.body === "string" && init.body.startsWith("{") ? JSON.parse(init.body) : init.body;
    this.requests.push({ method, address, body, headers: (init.headers ?? {}) as Record<string, string> });
    if (this.unreachable) throw new TypeError("failed to fetch");
    await this.before(method);
    if (this.refusal && method !== "GET") {
      const { status, code, message } = this.refusal;
      this.refusal = null;
      return new Response(JSON.stringify({ error: { code, message } }), { status });
    }
    if (this.gone && method === "GET") {
      const { status, code, message } = this.gone;
      return new Response(JSON.stringify({ error: { code, message } }), { status });
    }
    const events = /^api\/(?:runs\/([^/]+)\/)?events$/.exec(address);
    if (events) return this.#stream(events[1] ?? "", init);
    const answer = await this.#answer(method, address, body);
    if (method === "GET") await this.readDelay;
    return answer;
  };

  commands(): string[] {
    return this.requests.filter(({ method }) => method !== "GET").map(({ method, address }) => `${method} ${address.replace(/[0-9a-f]{32}/g, "ID")}`);
  }

  last(ending: string): any {
    return this.requests.filter(({ address, method }) => method !== "GET" && address.endsWith(ending)).at(-1)?.body;
  }

  conversation(id: string, messages: SparseMessage[] = [], title = ""): StoredConversation {
    const leaf = messages.at(-1)?.id ?? null;
    const stored: StoredConversation = { conversation: { id, title, leaf, running: null, updated: ++this.#number }, messages, pending: [] };
    for (const message of messages) Object.assign(message, { sequence: ++this.#number });
    this.conversations.set(id, stored);
    return stored;
  }

  get latest(): StoredConversation {
    return [...this.conversations.values()].at(-1)!;
  }

  /** The current run; `emit` sends its next events. */
  get run(): string {
    return [...this.logs.keys()].at(-1)!;
  }

  emit(...events: RunEvent[]): void {
    for (const event of events) {
      const log = this.logs.get(this.run)!;
      log.push(event);
      this.#send(this.run, log.length, event);
      if (event.type === "run_done") this.#closeRun();
    }
  }

  /** The assistant message being generated. */
  get row(): SparseMessage {
    return this.latest.messages.findLast(({ role }) => role === "assistant")!;
  }

  write(text: string): void {
    Object.assign(this.row, { content: [{ type: "text", text: textOf(this.row.content ?? []) + text }] });
    this.emit({ type: "delta", message: this.row.id, kind: "text", text });
  }

  end(changes: Partial<SparseMessage> = {}, outcome: "done" | "stopped" | "failed" | "interrupted" | "limit" = "done"): void {
    const row = this.row;
    Object.assign(row, { status: "done", finish: "stop" }, changes);
    this.emit({ type: "message_done", message: { ...row } }, { type: "run_done", outcome, error: row.error ?? null });
  }

  /** Sends an event on the feed. */
  emitFeed(event: object): void {
    this.#send("", ++this.#number, event);
  }

  /** Breaks every connection. */
  cut(run = this.run): void {
    for (const { controller } of this.connections.get(run) ?? []) controller.error(new TypeError("network error"));
    this.connections.set(run, []);
  }

  add(row: SparseMessage): SparseMessage {
    const stored = { ...row, sequence: ++this.#number };
    this.latest.messages.push(stored);
    this.latest.conversation.leaf = row.id;
    return { ...stored };
  }

  #closeRun(): void {
    for (const { controller, signal } of this.connections.get(this.run) ?? []) if (!signal?.aborted) controller.close();
    this.connections.set(this.run, []);
    this.latest.conversation.running = null;
  }

  #send(run: string, number: number, event: object): void {
    for (const { controller, signal } of this.connections.get(run) ?? []) {
      if (!signal?.aborted) controller.enqueue(encoder.encode(`id: ${number}\ndata: ${JSON.stringify(event)}\n\n`));
    }
  }

  #stream(run: string, { signal, headers }: RequestInit): Response {
    if (run !== "" && !this.logs.has(run)) return new Response('{"error":{"message":"There is no such run."}}', { status: 404 });
    const after = Number((headers as Record<string, string>)["Last-Event-ID"] ?? 0);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.connections.set(run, [...(this.connections.get(run) ?? []), { controller, signal }]);
        (this.logs.get(run) ?? []).forEach((event, index) => {
          if (index + 1 > after) controller.enqueue(encoder.encode(`id: ${index + 1}\ndata: ${JSON.stringify(event)}\n\n`));
        });
        signal?.addEventListener("abort", () => {
          try {
            controller.error(new DOMException("aborted", "AbortError"));
          } catch {
            // Already closed.
          }
        });
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }

  async #answer(method: string, address: string, body: any): Promise<Response> {
    const json = (value: unknown, status = 200) => new Response(value === undefined ? null : JSON.stringify(value), { status });
    const [, first = "", id = "", part = "", item = "", more = ""] = address.replace(/\?.*/, "").split("/");
    if (first === "runs" && part === "stop") {
      const row = this.row;
      this.end({ status: "stopped", finish: "cancelled", content: row.content ?? [] }, "stopped");
      return json({ id, conversation: this.latest.conversation.id });
    }
    if (first === "approvals" || first === "import") return json({ imported: 1, skipped: 0, conversations: ["c"] });
    if (first === "search") return json({ hits: [] });
    if (first === "folders") return this.#storage(method, id, body, json);
    if (first === "tags") return json({ tags: {} });
    if (first !== "conversations") return json({ error: { message: "unknown" } }, 404);
    if (id === "" && method === "GET") return json(this.#list(new URL(address, "http://x").searchParams));
    if (id === "bulk") return json(this.#bulk(body));
    if (id === "") {
      const { conversation } = this.conversation(body.id);
      if (body.system) this.add({ id: "system", parent: null, role: "system", content: [{ type: "text", text: body.system }] });
      return json(Object.assign(conversation, { ...(body.temporary ? { temporary: true } : {}), ...(body.folder ? { folder: body.folder } : {}) }), 201);
    }
    const stored = this.conversations.get(id);
    if (!stored && address.endsWith("?if_exists=true")) return json(undefined, 204);
    if (!stored) return json({ error: { code: "not_found", message: "There is no such conversation." } }, 404);
    if (part === "" && method === "GET") return json({ ...stored, run: stored.conversation.running ? { id: stored.conversation.running, conversation: id } : null, approvals: [] });
    if (part === "" && method === "PATCH") return json(Object.assign(stored.conversation, body));
    if (part === "title") return json(Object.assign(stored.conversation, { title: "Written by the model" }));
    if (part === "runs") return this.#start(stored, body, json);
    if (part === "messages" && more === "deletion") return json({ messages: 2, user: 1, assistant: 1, tool: 0 });
    if (part === "messages" && method === "DELETE") {
      stored.messages = stored.messages.filter((row) => row.id !== item && row.parent !== item);
      return json({ deleted: [item], leaf: stored.messages.at(-1)?.id ?? null });
    }
    if (part === "pending") {
      if (method === "DELETE") stored.pending = stored.pending.filter((other) => other.id !== item);
      return method === "DELETE" ? json(undefined, 200) : json({ id: item, ...body, content: [] });
    }
    return json(this.#keep(stored, part, body) ?? {});
  }

  #keep(stored: StoredConversation, part: string, body: any): object | null {
    const { conversation, messages } = stored;
    if (part === "context") return { tokens: 100 * messages.length, context: 1000, reply_room: 1000 - 100 * messages.length, parts: [] };
    if (part === "fork") return this.conversation(body.id, messages.slice(0, messages.findIndex(({ id }) => id === body.message) + 1), conversation.title).conversation;
    if (part === "system") {
      const row = messages.find(({ role, kind = "message" }) => role === "system" && kind === "message");
      const others = messages.filter((other) => other !== row).map((other) => (other.parent === (row?.id ?? null) ? { ...other, parent: body.text === "" ? null : "system" } : other));
      stored.messages = body.text === "" ? others : [{ id: "system", parent: null, role: "system", sequence: ++this.#number, content: [{ type: "text", text: body.text }] }, ...others];
      return stored.messages[0] ?? null;
    }
    if (part === "compact") {
      const [first, ...rest] = messages as [SparseMessage, ...SparseMessage[]];
      const row: SparseMessage = { id: body.id, parent: first.id, role: "system", kind: "summary", sequence: ++this.#number, content: [{ type: "text", text: "In short." }] };
      stored.messages = [first, row, ...rest.map((other) => (other.parent === first.id ? { ...other, parent: row.id } : other))];
      return row;
    }
    return null;
  }

  #list(requests: URLSearchParams): object {
    const [folder, tag, before] = ["folder", "tag", "before"].map((name) => requests.get(name));
    const matching = [...this.conversations.values()]
      .map(({ conversation }) => conversation)
      .filter((one) => (one.archived ?? false) === (requests.get("archived") === "true") && !one.temporary)
      .filter((one) => (!folder || one.folder === folder) && (!tag || one.tags?.includes(tag)))
      .sort((one, other) => other.updated - one.updated);
    const pinned = before ? [] : matching.filter((one) => one.pinned);
    const others = matching.filter((one) => !one.pinned && (!before || one.updated < Number(before.split(".")[0]))).slice(0, this.page);
    const last = others[this.page - 1];
    return { conversations: [...pinned, ...others], next: last ? `${last.updated}.${last.id}` : null };
  }

  #bulk({ ids, do: verb, folder = null }: { ids: string[]; do: string; folder?: string | null }): object {
    for (const id of ids) {
      const stored = this.conversations.get(id) ?? this.#deleted.get(id);
      if (!stored) continue;
      const { conversation } = stored;
      if (verb === "delete") (this.conversations.delete(id), this.#deleted.set(id, stored));
      else if (verb === "restore") this.conversations.set(id, stored);
      else if (verb === "move") conversation.folder = folder;
      else if (verb.endsWith("pin")) conversation.pinned = verb === "pin";
      else conversation.archived = verb === "archive";
    }
    return { done: ids, missing: [] };
  }

  #storage(method: string, id: string, body: any, json: (value: unknown, status?: number) => Response): Response {
    if (id === "") return json({ folders: [...this.folders.values()] });
    if (method === "PUT") this.folders.set(id, { id, ...body });
    const gone = this.folders.get(id);
    if (method === "DELETE") {
      this.folders.delete(id);
      for (const folder of this.folders.values()) if (folder.parent === id) this.folders.set(folder.id, { ...folder, parent: gone?.parent ?? null });
      for (const { conversation } of this.conversations.values()) if (conversation.folder === id) conversation.folder = gone?.parent ?? null;
    }
    return json(this.folders.get(id) ?? null);
  }

  async #start(stored: StoredConversation, verb: any, json: (value: unknown, status?: number) => Response): Promise<Response> {
    await this.gate;
    const { id } = stored.conversation;
    if (stored.conversation.running) {
      const pending = { id: verb.message.id, content: verb.message.content, how: "queue" };
      stored.pending.push(pending);
      return json({ pending }, 202);
    }
    this.logs.set(verb.run, []);
    stored.conversation.running = verb.run;
    this.emit({ type: "run_started", run: verb.run, conversation: id });
    if (verb.verb === "continue") {
      const row = stored.messages.find((message) => message.id === verb.message)!;
      Object.assign(row, { status: "running", run: verb.run, error: null });
      this.emit({ type: "message_added", message: { ...row } });
      return json({ id: verb.run, conversation: id }, 202);
    }
    const sent = verb.verb === "send" ? verb.message : verb.new;
    const target = stored.messages.find((message) => message.id === verb.message);
    if (sent) {
      const systemRow = stored.messages.find(({ role, parent }) => role === "system" && parent === null)?.id ?? null;
      const parent = verb.verb === "send" ? (verb.parent ?? systemRow) : (target?.parent ?? null);
      this.emit({ type: "message_added", message: this.add({ id: sent.id, parent, role: "user", content: sent.content }) });
    }
    const parent = sent ? sent.id : target?.role === "user" ? target.id : (target?.parent ?? null);
    this.emit({
      type: "message_added",
      message: this.add({ id: `a${verb.run}`, parent, role: "assistant", status: "running", run: verb.run, model: "mini" }),
    });
    return json({ id: verb.run, conversation: id }, 202);
  }
}
