// The server of the conversations, as far as the page's parts need one: kept in memory, answering at once, and writing
// replies word by word as a test says. Its rules are the real one's; what it is not asked about it does not know.
import type { Fetch } from "../src/wire/transport/http";
import type { Folder } from "../src/wire/folders";
import { type SparseMessage, textOf } from "../src/wire/rows";
import type { RunEvent } from "../src/wire/runs";

export interface Asked {
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

interface Kept {
  conversation: { id: string; title: string; leaf: string | null; running: string | null; updated: number } & Marks;
  messages: SparseMessage[];
  pending: { id: string; content: unknown; how: string }[];
}

interface Line {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly signal: AbortSignal | null | undefined;
}

const encoder = new TextEncoder();

/** Let everything that can go on go on. */
export async function calm(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export class FakeServer {
  readonly asked: Asked[] = [];
  readonly kept = new Map<string, Kept>();
  readonly folders = new Map<string, Folder>();
  /** So many are in a page of the list. */
  page = 50;
  readonly logs = new Map<string, RunEvent[]>();
  readonly lines = new Map<string, Line[]>();
  /** Nobody answers. */
  away = false;
  /** The next command is answered with this. */
  refusal: { status: number; code: string; message: string } | null = null;
  /** Starts of runs wait for this. */
  gate: Promise<void> | null = null;
  /** What is read is on its way until this, as it was when it was asked for. */
  slow: Promise<void> | null = null;
  /** What is done before a request is looked at. */
  before: (method: string) => Promise<void> = async () => {};
  readonly #gone = new Map<string, Kept>();
  #number = 0;

  readonly fetch: Fetch = async (address, init = {}) => {
    const method = init.method ?? "GET";
    const body = typeof init.body === "string" && init.body.startsWith("{") ? JSON.parse(init.body) : init.body;
    this.asked.push({ method, address, body, headers: (init.headers ?? {}) as Record<string, string> });
    if (this.away) throw new TypeError("failed to fetch");
    await this.before(method);
    if (this.refusal && method !== "GET") {
      const { status, code, message } = this.refusal;
      this.refusal = null;
      return new Response(JSON.stringify({ error: { code, message } }), { status });
    }
    const events = /^api\/(?:runs\/([^/]+)\/)?events$/.exec(address);
    if (events) return this.#stream(events[1] ?? "", init);
    const answer = await this.#answer(method, address, body);
    if (method === "GET") await this.slow;
    return answer;
  };

  commands(): string[] {
    return this.asked.filter(({ method }) => method !== "GET").map(({ method, address }) => `${method} ${address.replace(/[0-9a-f]{32}/g, "ID")}`);
  }

  last(ending: string): any {
    return this.asked.filter(({ address, method }) => method !== "GET" && address.endsWith(ending)).at(-1)?.body;
  }

  conversation(id: string, messages: SparseMessage[] = [], title = ""): Kept {
    const leaf = messages.at(-1)?.id ?? null;
    const kept: Kept = { conversation: { id, title, leaf, running: null, updated: ++this.#number }, messages, pending: [] };
    for (const message of messages) Object.assign(message, { sequence: ++this.#number });
    this.kept.set(id, kept);
    return kept;
  }

  get only(): Kept {
    return [...this.kept.values()].at(-1)!;
  }

  /** The run that goes on, and what it says next. */
  get run(): string {
    return [...this.logs.keys()].at(-1)!;
  }

  says(...events: RunEvent[]): void {
    for (const event of events) {
      const log = this.logs.get(this.run)!;
      log.push(event);
      this.#send(this.run, log.length, event);
      if (event.type === "run_done") this.#ends();
    }
  }

  /** The assistant's row that is being written. */
  get row(): SparseMessage {
    return this.only.messages.findLast(({ role }) => role === "assistant")!;
  }

  writes(text: string): void {
    Object.assign(this.row, { content: [{ type: "text", text: textOf(this.row.content ?? []) + text }] });
    this.says({ type: "delta", message: this.row.id, kind: "text", text });
  }

  ends(changes: Partial<SparseMessage> = {}, outcome: "done" | "stopped" | "failed" | "interrupted" | "limit" = "done"): void {
    const row = this.row;
    Object.assign(row, { status: "done", finish: "stop" }, changes);
    this.says({ type: "message_done", message: { ...row } }, { type: "run_done", outcome, error: row.error ?? null });
  }

  /** The feed says something. */
  tells(event: object): void {
    this.#send("", ++this.#number, event);
  }

  /** Every line breaks. */
  cut(run = this.run): void {
    for (const { controller } of this.lines.get(run) ?? []) controller.error(new TypeError("network error"));
    this.lines.set(run, []);
  }

  add(row: SparseMessage): SparseMessage {
    const kept = { ...row, sequence: ++this.#number };
    this.only.messages.push(kept);
    this.only.conversation.leaf = row.id;
    return { ...kept };
  }

  #ends(): void {
    for (const { controller, signal } of this.lines.get(this.run) ?? []) if (!signal?.aborted) controller.close();
    this.lines.set(this.run, []);
    this.only.conversation.running = null;
  }

  #send(run: string, number: number, event: object): void {
    for (const { controller, signal } of this.lines.get(run) ?? []) {
      if (!signal?.aborted) controller.enqueue(encoder.encode(`id: ${number}\ndata: ${JSON.stringify(event)}\n\n`));
    }
  }

  #stream(run: string, { signal, headers }: RequestInit): Response {
    if (run !== "" && !this.logs.has(run)) return new Response('{"error":{"message":"There is no such run."}}', { status: 404 });
    const after = Number((headers as Record<string, string>)["Last-Event-ID"] ?? 0);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.lines.set(run, [...(this.lines.get(run) ?? []), { controller, signal }]);
        (this.logs.get(run) ?? []).forEach((event, index) => {
          if (index + 1 > after) controller.enqueue(encoder.encode(`id: ${index + 1}\ndata: ${JSON.stringify(event)}\n\n`));
        });
        signal?.addEventListener("abort", () => {
          try {
            controller.error(new DOMException("aborted", "AbortError"));
          } catch {
            // It had ended.
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
      this.ends({ status: "stopped", finish: "cancelled", content: row.content ?? [] }, "stopped");
      return json({ id, conversation: this.only.conversation.id });
    }
    if (first === "approvals" || first === "import") return json({ imported: 1, skipped: 0, conversations: ["c"] });
    if (first === "search") return json({ hits: [] });
    if (first === "folders") return this.#storage(method, id, body, json);
    if (first === "tags") return json({ tags: {} });
    if (first !== "conversations") return json({ error: { message: "unknown" } }, 404);
    if (id === "" && method === "GET") return json(this.#listed(new URL(address, "http://x").searchParams));
    if (id === "bulk") return json(this.#bulk(body));
    if (id === "") {
      const { conversation } = this.conversation(body.id);
      if (body.system) this.add({ id: "system", parent: null, role: "system", content: [{ type: "text", text: body.system }] });
      return json(Object.assign(conversation, { ...(body.temporary ? { temporary: true } : {}), ...(body.folder ? { folder: body.folder } : {}) }), 201);
    }
    const kept = this.kept.get(id);
    if (!kept) return json({ error: { code: "not_found", message: "There is no such conversation." } }, 404);
    if (part === "" && method === "GET") return json({ ...kept, run: kept.conversation.running ? { id: kept.conversation.running, conversation: id } : null, approvals: [] });
    if (part === "" && method === "PATCH") return json(Object.assign(kept.conversation, body));
    if (part === "title") return json(Object.assign(kept.conversation, { title: "Written by the model" }));
    if (part === "runs") return this.#start(kept, body, json);
    if (part === "messages" && more === "deletion") return json({ messages: 2, user: 1, assistant: 1, tool: 0 });
    if (part === "messages" && method === "DELETE") {
      kept.messages = kept.messages.filter((row) => row.id !== item && row.parent !== item);
      return json({ deleted: [item], leaf: kept.messages.at(-1)?.id ?? null });
    }
    if (part === "pending") {
      if (method === "DELETE") kept.pending = kept.pending.filter((other) => other.id !== item);
      return method === "DELETE" ? json(undefined, 200) : json({ id: item, ...body, content: [] });
    }
    return json(this.#keep(kept, part, body) ?? {});
  }

  #keep(kept: Kept, part: string, body: any): object | null {
    const { conversation, messages } = kept;
    if (part === "context") return { tokens: 100 * messages.length, context: 1000, reply_room: 1000 - 100 * messages.length, parts: [] };
    if (part === "fork") return this.conversation(body.id, messages.slice(0, messages.findIndex(({ id }) => id === body.message) + 1), conversation.title).conversation;
    if (part === "system") {
      const row = messages.find(({ role, kind = "message" }) => role === "system" && kind === "message");
      const others = messages.filter((other) => other !== row).map((other) => (other.parent === (row?.id ?? null) ? { ...other, parent: body.text === "" ? null : "system" } : other));
      kept.messages = body.text === "" ? others : [{ id: "system", parent: null, role: "system", sequence: ++this.#number, content: [{ type: "text", text: body.text }] }, ...others];
      return kept.messages[0] ?? null;
    }
    if (part === "compact") {
      const [first, ...rest] = messages as [SparseMessage, ...SparseMessage[]];
      const row: SparseMessage = { id: body.id, parent: first.id, role: "system", kind: "summary", sequence: ++this.#number, content: [{ type: "text", text: "In short." }] };
      kept.messages = [first, row, ...rest.map((other) => (other.parent === first.id ? { ...other, parent: row.id } : other))];
      return row;
    }
    return null;
  }

  #listed(asked: URLSearchParams): object {
    const [folder, tag, before] = ["folder", "tag", "before"].map((name) => asked.get(name));
    const these = [...this.kept.values()]
      .map(({ conversation }) => conversation)
      .filter((one) => (one.archived ?? false) === (asked.get("archived") === "true") && !one.temporary)
      .filter((one) => (!folder || one.folder === folder) && (!tag || one.tags?.includes(tag)))
      .sort((one, other) => other.updated - one.updated);
    const pinned = before ? [] : these.filter((one) => one.pinned);
    const others = these.filter((one) => !one.pinned && (!before || one.updated < Number(before.split(".")[0]))).slice(0, this.page);
    const last = others[this.page - 1];
    return { conversations: [...pinned, ...others], next: last ? `${last.updated}.${last.id}` : null };
  }

  #bulk({ ids, do: verb, folder = null }: { ids: string[]; do: string; folder?: string | null }): object {
    for (const id of ids) {
      const kept = this.kept.get(id) ?? this.#gone.get(id);
      if (!kept) continue;
      const { conversation } = kept;
      if (verb === "delete") (this.kept.delete(id), this.#gone.set(id, kept));
      else if (verb === "restore") this.kept.set(id, kept);
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
      for (const { conversation } of this.kept.values()) if (conversation.folder === id) conversation.folder = gone?.parent ?? null;
    }
    return json(this.folders.get(id) ?? null);
  }

  async #start(kept: Kept, verb: any, json: (value: unknown, status?: number) => Response): Promise<Response> {
    await this.gate;
    const { id } = kept.conversation;
    if (kept.conversation.running) {
      const pending = { id: verb.message.id, content: verb.message.content, how: "queue" };
      kept.pending.push(pending);
      return json({ pending }, 202);
    }
    this.logs.set(verb.run, []);
    kept.conversation.running = verb.run;
    this.says({ type: "run_started", run: verb.run, conversation: id });
    if (verb.verb === "continue") {
      const row = kept.messages.find((message) => message.id === verb.message)!;
      Object.assign(row, { status: "running", run: verb.run, error: null });
      this.says({ type: "message_added", message: { ...row } });
      return json({ id: verb.run, conversation: id }, 202);
    }
    const said = verb.verb === "send" ? verb.message : verb.new;
    const old = kept.messages.find((message) => message.id === verb.message);
    if (said) {
      const beginning = kept.messages.find(({ role, parent }) => role === "system" && parent === null)?.id ?? null;
      const parent = verb.verb === "send" ? (verb.parent ?? beginning) : (old?.parent ?? null);
      this.says({ type: "message_added", message: this.add({ id: said.id, parent, role: "user", content: said.content }) });
    }
    const parent = said ? said.id : old?.role === "user" ? old.id : (old?.parent ?? null);
    this.says({
      type: "message_added",
      message: this.add({ id: `a${verb.run}`, parent, role: "assistant", status: "running", run: verb.run, model: "mini" }),
    });
    return json({ id: verb.run, conversation: id }, 202);
  }
}
