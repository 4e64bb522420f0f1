// The running reply of the conversation on the page: asking for it, following it, stopping it, and what it asks back.
// Owns what stands in for it until the server has answered. Knows no other conversation.
import type { ApprovalAnswer, RunOptions, StartResult, RunCommand } from "../../wire/conversations";
import { thread as words } from "../../language/en/thread";
import { type Answer, problemOf } from "../../wire/transport/http";
import { type Approval, type Content, messageOf, type RowError, textOf } from "../../wire/rows";
import { type RunDone, type RunView, type ToolOutput, EMPTY_RUN } from "../../wire/runs";
import { initialProgress, type ReplyProgress } from "./pulse";
import { giveBack, handBack, type ChatDependencies, takeFromDesk } from "../surroundings";
import { hasOutput, type ReplyTurn, type Row, type Thread } from "../thread.svelte";
import { RunViewer } from "./viewer";

/** How long the server may take to begin a reply, milliseconds, before a person who said stop is let go. */
const PATIENCE = 2000;
/** How long a line may be gone before it is worth a word. */
const WORTH_TELLING = 1000;

/** The conversation a reply is asked for in. */
export interface Host {
  readonly thread: Thread;
  /** Its id; one that is new is made first. */
  readonly named: () => Promise<Answer<string>>;
  /** Read it again: what is there is not what was thought. */
  readonly refresh: () => void;
  /** A run that was followed has ended. */
  readonly ended: () => void;
}

/** A reply that was asked for; `waiting` stands in for its row until the server has made one. */
interface Asking {
  readonly verb: RunCommand;
  readonly waiting: Row;
  /** A message without an answer that this one replaces. */
  readonly instead: string | null;
  /** What was said to ask for it; null where it was said before. */
  readonly said: readonly Content[] | null;
  /** That is back where it was typed. */
  isBack: boolean;
}

export class Running {
  readonly #deps: ChatDependencies;
  readonly #host: Host;
  #run = $state.raw<string | null>(null);
  #progress = $state.raw<ReplyProgress>(initialProgress(0));
  #stopping = $state(false);
  #lost = $state(false);
  #ending = $state.raw<RunDone | null>(null);
  #outputs = $state.raw<Readonly<Record<string, ToolOutput>>>({});
  #approvals = $state.raw<readonly Approval[]>([]);
  #heardRows = $state.raw<RunView["rows"]>(EMPTY_RUN.rows);

  #viewer: RunViewer | null = null;
  #starting: Asking | null = null;
  #unsent: Asking | null = null;
  #mine = $state(false);

  constructor(deps: ChatDependencies, host: Host) {
    this.#deps = deps;
    this.#host = host;
  }

  get id(): string | null {
    return this.#run;
  }

  /** It was asked for here. */
  get mine(): boolean {
    return this.#mine;
  }

  get progress(): ReplyProgress {
    return this.#progress;
  }

  /** It was told to stop and has not ended yet. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** The server is out of hearing in the middle of it. */
  get lost(): boolean {
    return this.#lost;
  }

  /** How the last run that was followed here ended. */
  get ending(): RunDone | null {
    return this.#ending;
  }

  get approvals(): readonly Approval[] {
    return this.#approvals;
  }

  /** What running tools last said, by row. */
  get outputs(): Readonly<Record<string, ToolOutput>> {
    return this.#outputs;
  }

  /** The server has not been asked, or has not answered yet. */
  get starting(): boolean {
    return this.#starting !== null;
  }

  /** Whether the run has said something of this row. */
  wrote(row: string): boolean {
    return this.#heardRows.has(row);
  }

  /** What the server could not be asked for: `ask` once more. */
  get unsent(): Asking | null {
    return this.#unsent;
  }

  options(): RunOptions {
    const { speaker: _, ...options } = this.#deps.options();
    return options;
  }

  /** Ask for a reply below `parent`. */
  ask(verb: RunCommand, parent: string | null, instead: string | null = null): void {
    const { thread } = this.#host;
    const goesOn = verb.verb === "continue" ? thread.get(verb.message) : undefined;
    const stays = goesOn?.role === "assistant" && goesOn.message.tool_calls.length === 0;
    const model = verb.options.model || this.#deps.options().speaker;
    const waiting = stays ? goesOn : thread.put(messageOf({ id: verb.run, parent, role: "assistant", status: "running", model }));
    const said = verb.verb === "send" || verb.verb === "edit" ? (thread.get(parent ?? "")?.message.content ?? null) : null;
    this.#ask({ verb, waiting, instead, said, isBack: false });
  }

  askAgain(): void {
    if (!this.#unsent) return;
    const asked = this.#host.thread.get(this.#unsent.waiting.parent ?? "");
    if (asked?.role === "user") takeFromDesk(this.#deps, asked.message.content);
    this.#unsent.isBack = false;
    this.#ask(this.#unsent);
  }

  /** What was said and did not arrive goes back to where it was typed; where the page goes away, also what is on its way. */
  rescue(conversation: string | null, leaving = false): void {
    const asking = this.#unsent ?? (leaving ? this.#starting : null);
    if (asking) this.#giveBack(asking, conversation);
  }

  #giveBack(asking: Asking, conversation: string | null): void {
    if (asking.isBack || asking.said === null) return;
    asking.isBack = true;
    giveBack(this.#deps, conversation, asking.said);
  }

  stop(): void {
    const run = this.#run;
    if (run === null || this.#stopping) return;
    this.#stopping = true;
    const asking = this.#starting;
    if (!asking) return void this.#stopRun(run);
    // Nobody has answered yet: it is stopped when that happens, and the person need not wait for it.
    this.#deps.clock.after(PATIENCE, () => {
      if (this.#starting !== asking) return;
      this.#starting = null;
      this.#fail(asking, null);
    });
  }

  /** Follow a run that was begun elsewhere, or before this page was. */
  join(run: string, approvals: readonly Approval[]): void {
    if (this.#viewer?.run === run) return;
    this.#mine = false;
    this.#approvals = approvals;
    this.#progress = initialProgress(this.#deps.clock.now());
    this.#follow(run, null);
  }

  /** Let go of it; it goes on by itself. */
  leave(): void {
    this.#viewer?.close();
    this.#viewer = this.#starting = this.#unsent = this.#run = this.#ending = null;
    this.#stopping = this.#lost = this.#mine = false;
    this.#approvals = [];
    this.#outputs = {};
    this.#deps.announcer.forget();
  }

  resume(): void {
    this.#viewer?.resume();
  }

  pause(): void {
    this.#viewer?.pause();
  }

  /** Answer a question; gives a sentence when that fails. */
  async decide(approval: Approval, given: ApprovalAnswer): Promise<string> {
    const answer = await this.#deps.client.answer(approval.id, given);
    if (answer.kind !== "ok" && !(answer.kind === "refused" && answer.status === 404)) return problemOf(answer);
    this.#approvals = this.#approvals.filter(({ id }) => id !== approval.id);
    return "";
  }

  #ask(asking: Asking): void {
    const { waiting, verb } = asking;
    waiting.message = { ...waiting.message, status: "running", error: null };
    this.#unsent = this.#ending = null;
    this.#starting = asking;
    this.#run = verb.run;
    this.#mine = true;
    this.#progress = { ...initialProgress(this.#deps.clock.now()), row: waiting.id };
    this.#deps.announcer.tell(words().answering(verb.options.model || this.#deps.options().speaker));
    void this.#start(asking);
  }

  async #start(asking: Asking): Promise<void> {
    const { run } = asking.verb;
    const { client } = this.#deps;
    const named = await this.#host.named();
    const answer = named.kind === "ok" ? await this.#asked(asking, named.value) : named;
    if (this.#starting !== asking) {
      // Nobody waits for it any more. Whoever only went elsewhere finds it, or what they said, when they come back.
      if (this.#unsent === asking && answer.kind === "ok") void client.stop(run);
      else if (this.#unsent !== asking && answer.kind !== "ok") this.#giveBack(asking, named.kind === "ok" ? named.value : null);
      return;
    }
    this.#starting = null;
    if (answer.kind !== "ok") {
      const code = answer.kind === "refused" ? answer.code : answer.kind;
      return this.#fail(asking, { kind: "server", code, message: problemOf(answer) });
    }
    if ("pending" in answer.value) {
      // Another reply had begun elsewhere: this one waits for its end.
      this.leave();
      return this.#host.refresh();
    }
    this.#follow(run, asking.waiting);
    if (this.#stopping) void this.#stopRun(run);
  }

  async #asked({ verb, instead }: Asking, conversation: string): Promise<Answer<StartResult>> {
    if (instead !== null) await this.#deps.client.deleteMessage(conversation, instead);
    return this.#deps.client.start(conversation, verb);
  }

  /** The server did not take what was asked of it, or, without an error, was not waited for. */
  #fail(asking: Asking, error: RowError | null): void {
    const { waiting } = asking;
    this.#run = null;
    this.#stopping = false;
    this.#unsent = asking;
    waiting.message = { ...waiting.message, status: error ? "failed" : "stopped", error };
    asking.isBack = this.#handBack();
    if (error) this.#deps.onFailure();
    else this.#deps.announcer.tell(words().note.stopped);
  }

  async #stopRun(run: string): Promise<void> {
    const answer = await this.#deps.client.stop(run);
    if (answer.kind === "ok" || this.#run !== run) return;
    this.#stopping = false;
    this.#deps.notices.show(problemOf(answer));
  }

  #follow(run: string, waiting: Row | null): void {
    this.#viewer?.close();
    this.#run = run;
    this.#ending = null;
    this.#heardRows = EMPTY_RUN.rows;
    const viewer = new RunViewer(run, this.#deps.clock, this.#deps.stream, {
      drawn: (view, progress) => this.#draw(view, progress, waiting),
      ended: (view) => this.#end(view, waiting),
      connected: (there) => this.#connected(there),
      refused: () => {
        this.leave();
        this.#deps.onFailure();
        this.#host.refresh();
      },
    });
    this.#viewer = viewer;
  }

  #draw(view: RunView, progress: ReplyProgress, waiting: Row | null): void {
    const { thread } = this.#host;
    for (const [id, message] of view.rows) {
      if (this.#heardRows.get(id) === message) continue;
      if (message.status === "running" && message.role === "assistant") this.#deps.announcer.grows(id, () => textOf(message.content));
      const standsIn =
        waiting && id !== waiting.id && message.role === "assistant" && message.parent === waiting.parent && thread.get(waiting.id) === waiting;
      thread.put(message, standsIn ? waiting : null);
    }
    for (const [id, thought] of Object.entries(progress.thought)) {
      const row = thread.get(id);
      if (row) row.thoughtFor = thought;
    }
    if (progress.stage === "queued" && this.#progress.stage !== "queued") {
      this.#deps.announcer.tell(words().queued(progress.update?.position ?? 0));
    }
    this.#announceApprovals(view.approvals);
    this.#heardRows = view.rows;
    this.#progress = progress;
    this.#outputs = view.outputs;
  }

  #announceApprovals(approvals: readonly Approval[]): void {
    if (approvals === EMPTY_RUN.approvals || approvals === this.#approvals) return;
    for (const { id, kind = "tool", tool, server } of approvals) {
      if (this.#approvals.some((known) => known.id === id)) continue;
      this.#deps.announcer.say(kind === "tool" ? words().asks(tool ?? words().tool.some) : words().asksYou(server || words().tool.one));
    }
    this.#approvals = approvals;
  }

  #end(view: RunView, waiting: Row | null): void {
    const { thread } = this.#host;
    const mine = this.#mine;
    // Only the end of what grew is still to be read out: `leave` would forget it.
    this.#tell(view);
    this.leave();
    this.#ending = view.done;
    const error = view.done?.error ?? null;
    if (waiting?.message.status === "running" && thread.get(waiting.id) === waiting) {
      // No row took its place.
      if (error) waiting.message = { ...waiting.message, status: "failed", error };
      else this.#host.refresh();
    }
    if (mine) this.#handBack();
    if (error) this.#deps.onFailure();
    this.#host.ended();
  }

  #tell({ done, model }: RunView): void {
    // A failure is an alert of its own on the page.
    if (done?.outcome === "failed") return;
    if (done?.outcome === "stopped") return this.#deps.announcer.tell(words().note.stopped);
    const last = this.#host.thread.turns.at(-1);
    if (last?.kind !== "reply") return;
    const text = last.rows.map((row) => (row.role === "assistant" ? row.text : "")).join(" ");
    this.#deps.announcer.ends(last.rows[0]?.message.model || model || words().theModel, text);
  }

  #connected(there: boolean): void {
    if (there) {
      this.#lost = false;
      return;
    }
    const viewer = this.#viewer;
    this.#deps.onFailure();
    this.#deps.clock.after(WORTH_TELLING, () => {
      if (viewer && this.#viewer === viewer && !viewer.connected) this.#lost = true;
    });
  }

  /** What had no answer at all is put back where it was typed; gives whether it is there. */
  #handBack(): boolean {
    const last = this.#host.thread.turns.at(-1);
    if (last?.kind !== "reply" || !isUnanswered(last)) return false;
    const asked = this.#host.thread.get(last.rows[0]?.parent ?? "");
    return asked?.role === "user" && handBack(this.#deps, asked.message.content);
  }
}

/** Whether a reply failed or was stopped before it said anything: its question is still open. */
export function isUnanswered(turn: ReplyTurn): boolean {
  const [row, ...more] = turn.rows;
  if (!row || more.length > 0 || hasOutput(row.message)) return false;
  return ["stopped", "failed", "interrupted"].includes(row.message.status);
}
