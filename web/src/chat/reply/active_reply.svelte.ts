// The running reply of the open conversation: requests it, follows it, stops it, and collects its approvals. Owns the
// placeholder row until the server has made one.
import type { ApprovalAnswer, RunCommand, RunOptions, StartResult } from "../../wire/chat/conversations";
import { thread as words } from "../../language/en/chat/thread";
import { type Answer, problemOf } from "../../wire/transport/http";
import { type Approval, type Content, messageOf, type RowError, textOf } from "../../wire/chat/rows";
import { EMPTY_RUN, type RunDone, type RunView, type ToolOutput } from "../../wire/chat/runs";
import { initialProgress, type ReplyProgress } from "./progress";
import type { ChatDependencies } from "../dependencies";
import { removeRestored, restoreIfEmpty, restoreUnsent } from "../draft/restore";
import { hasOutput, type ReplyTurn, type Row, type Thread } from "../thread.svelte";
import { RunViewer } from "./run_viewer";

/** After stopping a reply that the server has not accepted, wait this long (milliseconds) before giving up on it. */
const STOP_TIMEOUT_MS = 2000;
/** A connection may be lost this long (milliseconds) before the page says so. */
const DISCONNECT_NOTICE_MS = 1000;

/** The conversation the reply belongs to. */
export interface ReplyHost {
  readonly thread: Thread;
  /** The conversation's id; creates a new one first. */
  readonly ensureConversation: () => Promise<Answer<string>>;
  /** The page's rows may be wrong: reload the conversation. */
  readonly refresh: () => void;
  /** A run that was followed has ended. */
  readonly onEnd: () => void;
}

/** A requested reply; `placeholder` is drawn until the server has a row for it. */
interface ReplyRequest {
  readonly command: RunCommand;
  readonly placeholder: Row;
  /** An unanswered message that this one replaces. */
  readonly replaces: string | null;
  /** The user's message; null if the reply is to an existing one. */
  readonly content: readonly Content[] | null;
  /** `content` was already put back into the composer. */
  restored: boolean;
}

export class ActiveReply {
  readonly #deps: ChatDependencies;
  readonly #host: ReplyHost;
  #run = $state.raw<string | null>(null);
  #progress = $state.raw<ReplyProgress>(initialProgress(0));
  #stopping = $state(false);
  #disconnected = $state(false);
  #ending = $state.raw<RunDone | null>(null);
  #toolOutputs = $state.raw<Readonly<Record<string, ToolOutput>>>({});
  #approvals = $state.raw<readonly Approval[]>([]);
  #drawnRows = $state.raw<RunView["rows"]>(EMPTY_RUN.rows);

  #viewer: RunViewer | null = null;
  #starting: ReplyRequest | null = null;
  #unsent = $state.raw<ReplyRequest | null>(null);
  #startedHere = $state(false);

  constructor(deps: ChatDependencies, host: ReplyHost) {
    this.#deps = deps;
    this.#host = host;
  }

  get id(): string | null {
    return this.#run;
  }

  /** This page requested it. */
  get startedHere(): boolean {
    return this.#startedHere;
  }

  get progress(): ReplyProgress {
    return this.#progress;
  }

  /** A stop was requested and the run has not ended. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** The connection has been lost for a while. */
  get disconnected(): boolean {
    return this.#disconnected;
  }

  /** How the last run followed here ended. */
  get ending(): RunDone | null {
    return this.#ending;
  }

  get approvals(): readonly Approval[] {
    return this.#approvals;
  }

  /** Latest output of running tools, by row. */
  get toolOutputs(): Readonly<Record<string, ToolOutput>> {
    return this.#toolOutputs;
  }

  /** The server has not accepted the request yet. */
  get starting(): boolean {
    return this.#starting !== null;
  }

  /** Whether the run has added or changed this row. */
  hasRow(row: string): boolean {
    return this.#drawnRows.has(row);
  }

  /** A request that failed to reach the server; `retry` sends it again. */
  get unsent(): ReplyRequest | null {
    return this.#unsent;
  }

  options(): RunOptions {
    const { speaker: _, ...options } = this.#deps.options();
    return options;
  }

  /** Requests a reply below `parent`. */
  start(command: RunCommand, parent: string | null, replaces: string | null = null): void {
    const { thread } = this.#host;
    const target = command.verb === "continue" ? thread.get(command.message) : undefined;
    const continues = target?.role === "assistant" && target.message.tool_calls.length === 0;
    const model = command.options.model || this.#deps.options().speaker;
    const placeholder = continues ? target : thread.put(messageOf({ id: command.run, parent, role: "assistant", status: "running", model }));
    const content = command.verb === "send" || command.verb === "edit" ? (thread.get(parent ?? "")?.message.content ?? null) : null;
    this.#begin({ command, placeholder, replaces, content, restored: false });
  }

  /** Requests the reply again, from `model` if named. */
  retry(model = ""): void {
    if (!this.#unsent) return;
    const question = this.#host.thread.get(this.#unsent.placeholder.parent ?? "");
    if (question?.role === "user") removeRestored(this.#deps, question.message.content);
    const { command } = this.#unsent;
    const options = { ...command.options, ...(model === "" ? {} : { model }) };
    this.#begin({ ...this.#unsent, command: { ...command, options } as RunCommand, restored: false });
  }

  /** Gives up a request that did not arrive. Returns the message it carried. */
  withdraw(): readonly Content[] {
    const content = this.#unsent?.content ?? [];
    this.#unsent = this.#ending = null;
    return content;
  }

  /** Puts a message that did not arrive back into the draft; when the page is `leaving`, also one under way. */
  restoreUnsent(conversation: string | null, leaving = false): void {
    const request = this.#unsent ?? (leaving ? this.#starting : null);
    if (request) this.#restoreOnce(request, conversation);
  }

  #restoreOnce(request: ReplyRequest, conversation: string | null): void {
    if (request.restored || request.content === null) return;
    request.restored = true;
    restoreUnsent(this.#deps, conversation, request.content);
  }

  /** `first`: what has to reach the server before. A message that was queued behind this reply would start one of its own
   * if it arrived after the stop. */
  stop(first: Promise<unknown> | null = null): void {
    const run = this.#run;
    if (run === null || this.#stopping) return;
    this.#stopping = true;
    const request = this.#starting;
    if (!request) return void this.#stopRun(run, first);
    // The server has not accepted the run, so there is nothing to stop yet: `#start` stops it as soon as it is
    // accepted. The user does not have to wait for that.
    this.#deps.clock.after(STOP_TIMEOUT_MS, () => {
      if (this.#starting !== request) return;
      this.#starting = null;
      this.#fail(request, null);
    });
  }

  /** Follows a run that was started elsewhere or before the page was loaded. */
  join(run: string, approvals: readonly Approval[]): void {
    if (this.#viewer?.run === run) return;
    this.#startedHere = false;
    this.#approvals = approvals;
    this.#progress = initialProgress(this.#deps.clock.now());
    this.#follow(run, null);
  }

  /** Stops following the run, which continues on the server. */
  detach(): void {
    this.#viewer?.close();
    this.#viewer = this.#starting = this.#unsent = this.#run = this.#ending = null;
    this.#stopping = this.#disconnected = this.#startedHere = false;
    this.#approvals = [];
    this.#toolOutputs = {};
    this.#deps.announcer.reset();
  }

  resume(): void {
    this.#viewer?.resume();
  }

  pause(): void {
    this.#viewer?.pause();
  }

  /** Answers an approval. Returns a sentence if that fails. */
  async answerApproval(approval: Approval, answer: ApprovalAnswer): Promise<string> {
    const result = await this.#deps.client.answer(approval.id, answer);
    if (result.kind !== "ok" && !(result.kind === "refused" && result.status === 404)) return problemOf(result);
    this.#approvals = this.#approvals.filter(({ id }) => id !== approval.id);
    return "";
  }

  #begin(request: ReplyRequest): void {
    const { placeholder, command } = request;
    placeholder.message = { ...placeholder.message, status: "running", error: null };
    this.#unsent = this.#ending = null;
    this.#starting = request;
    this.#run = command.run;
    this.#startedHere = true;
    this.#progress = { ...initialProgress(this.#deps.clock.now()), row: placeholder.id };
    this.#deps.announcer.sayProgress(words().answering(this.#speakerOf(command.options.model || this.#deps.options().speaker)));
    void this.#start(request);
  }

  #speakerOf(model: string): string {
    return model === "" ? words().theModel : this.#deps.titleOf(model);
  }

  async #start(request: ReplyRequest): Promise<void> {
    const { run } = request.command;
    const { client } = this.#deps;
    const conversation = await this.#host.ensureConversation();
    const answer = conversation.kind === "ok" ? await this.#send(request, conversation.value) : conversation;
    if (this.#starting !== request) {
      // The request was abandoned meanwhile. After a stop the run must not continue; after switching to another
      // conversation it may, and a message that failed goes back to its draft.
      if (this.#unsent === request && answer.kind === "ok") void client.stop(run);
      else if (this.#unsent !== request && answer.kind !== "ok") this.#restoreOnce(request, conversation.kind === "ok" ? conversation.value : null);
      return;
    }
    this.#starting = null;
    if (answer.kind !== "ok") {
      const code = answer.kind === "refused" ? answer.code : answer.kind;
      return this.#fail(request, { kind: "server", code, message: problemOf(answer) });
    }
    if ("pending" in answer.value) {
      // Another device started a reply first: the message was queued behind it.
      this.detach();
      return this.#host.refresh();
    }
    this.#follow(run, request.placeholder);
    if (this.#stopping) void this.#stopRun(run);
  }

  async #send({ command, replaces }: ReplyRequest, conversation: string): Promise<Answer<StartResult>> {
    if (replaces !== null) await this.#deps.client.deleteMessage(conversation, replaces);
    return this.#deps.client.start(conversation, command);
  }

  /** The request failed, or, without an error, was stopped before the server accepted it. */
  #fail(request: ReplyRequest, error: RowError | null): void {
    const { placeholder } = request;
    this.#run = null;
    this.#stopping = false;
    this.#unsent = request;
    placeholder.message = { ...placeholder.message, status: error ? "failed" : "stopped", error };
    // A refused message stands in the thread, with what can be done about it. Only the user's own stop takes it back.
    if (error === null) request.restored = this.#restoreQuestion();
    if (error) this.#deps.onFailure();
    else this.#deps.announcer.sayProgress(words().note.stopped);
  }

  async #stopRun(run: string, first: Promise<unknown> | null = null): Promise<void> {
    if (first) await first;
    const answer = await this.#deps.client.stop(run);
    if (answer.kind === "ok" || this.#run !== run) return;
    this.#stopping = false;
    this.#deps.notices.showHere(problemOf(answer));
  }

  #follow(run: string, placeholder: Row | null): void {
    this.#viewer?.close();
    this.#run = run;
    this.#ending = null;
    this.#drawnRows = EMPTY_RUN.rows;
    const viewer = new RunViewer(run, this.#deps.clock, this.#deps.stream, {
      onDraw: (view, progress) => this.#draw(view, progress, placeholder),
      onEnd: (view) => this.#end(view, placeholder),
      onConnection: (isConnected) => this.#onConnection(isConnected),
      onRefused: () => {
        this.detach();
        this.#deps.onFailure();
        this.#host.refresh();
      },
    });
    this.#viewer = viewer;
  }

  #draw(view: RunView, progress: ReplyProgress, placeholder: Row | null): void {
    const { thread } = this.#host;
    for (const [id, message] of view.rows) {
      if (this.#drawnRows.get(id) === message) continue;
      if (message.status === "running" && message.role === "assistant") this.#deps.announcer.update(id, () => textOf(message.content));
      const replacesPlaceholder =
        placeholder && id !== placeholder.id && message.role === "assistant" && message.parent === placeholder.parent && thread.get(placeholder.id) === placeholder;
      thread.put(message, replacesPlaceholder ? placeholder : null);
    }
    for (const [id, milliseconds] of Object.entries(progress.thought)) {
      const row = thread.get(id);
      if (row) row.thinkingMs = milliseconds;
    }
    if (progress.stage === "loading" && this.#progress.stage !== "loading") {
      this.#deps.announcer.sayProgress(words().status.loading(progress.update?.model || words().theModel));
    }
    if (progress.stage === "queued" && this.#progress.stage !== "queued") {
      this.#deps.announcer.sayProgress(words().queued(progress.update?.position ?? 0));
    }
    this.#announceApprovals(view.approvals);
    this.#drawnRows = view.rows;
    this.#progress = progress;
    this.#toolOutputs = view.outputs;
  }

  #announceApprovals(approvals: readonly Approval[]): void {
    if (approvals === EMPTY_RUN.approvals || approvals === this.#approvals) return;
    for (const { id, kind = "tool", tool, server } of approvals) {
      if (this.#approvals.some((known) => known.id === id)) continue;
      this.#deps.announcer.say(kind === "tool" ? words().asks(tool ?? words().tool.some) : words().asksYou(server || words().tool.one));
    }
    this.#approvals = approvals;
  }

  #end(view: RunView, placeholder: Row | null): void {
    const { thread } = this.#host;
    const startedHere = this.#startedHere;
    // Announce before `detach`, which resets the announcer.
    this.#announceEnd(view);
    this.detach();
    this.#ending = view.done;
    const error = view.done?.error ?? null;
    if (placeholder?.message.status === "running" && thread.get(placeholder.id) === placeholder) {
      // The run ended without a row of its own.
      if (error) placeholder.message = { ...placeholder.message, status: "failed", error };
      else this.#host.refresh();
    }
    if (startedHere && !error) this.#restoreQuestion();
    if (error) this.#deps.onFailure();
    this.#host.onEnd();
  }

  #announceEnd({ done, model }: RunView): void {
    // Failures are shown as an alert, which screen readers announce by themselves.
    if (done?.outcome === "failed") return;
    if (done?.outcome === "stopped") return this.#deps.announcer.sayProgress(words().note.stopped);
    const last = this.#host.thread.turns.at(-1);
    if (last?.kind !== "reply") return;
    const text = last.rows.map((row) => (row.role === "assistant" ? row.text : "")).join(" ");
    this.#deps.announcer.finish(this.#speakerOf(last.rows[0]?.message.model || model || ""), text);
  }

  #onConnection(isConnected: boolean): void {
    if (isConnected) {
      this.#disconnected = false;
      return;
    }
    const viewer = this.#viewer;
    this.#deps.onFailure();
    this.#deps.clock.after(DISCONNECT_NOTICE_MS, () => {
      if (viewer && this.#viewer === viewer && !viewer.connected) this.#disconnected = true;
    });
  }

  /** Puts an unanswered question back into the composer. Returns whether it did. */
  #restoreQuestion(): boolean {
    const last = this.#host.thread.turns.at(-1);
    if (last?.kind !== "reply" || !isUnanswered(last)) return false;
    const question = this.#host.thread.get(last.rows[0]?.parent ?? "");
    return question?.role === "user" && restoreIfEmpty(this.#deps, question.message.content);
  }
}

/** Whether a reply failed or was stopped before any output, so that its question is still open. */
export function isUnanswered(turn: ReplyTurn): boolean {
  const [row, ...more] = turn.rows;
  if (!row || more.length > 0 || hasOutput(row.message)) return false;
  return ["stopped", "failed", "interrupted"].includes(row.message.status);
}
