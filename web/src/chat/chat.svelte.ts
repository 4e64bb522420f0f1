// The conversation on the page, a view of the one on the server, and the commands a user gives in it. Owns which one is
// open, and shows a command's effect before the server has answered. No DOM, no addresses.
import { thread as words } from "../language/en/chat/thread";
import type { ApprovalAnswer, ConversationDetail, DeletionPreview } from "../wire/chat/conversations";
import { type Answer, problemOf } from "../wire/transport/http";
import { type Approval, type Content, type Conversation, filesOf, messageOf, newId, type PendingMessage, resendable, textOf, withNewText } from "../wire/chat/rows";
import type { Route } from "../shell/route";
import type { ListEvent } from "./list/feed";
import { PendingMessages } from "./reply/pending_messages.svelte";
import { ActiveReply, isUnanswered } from "./reply/active_reply.svelte";
import type { ChatDependencies } from "./dependencies";
import { filesAtFault } from "./reply/remedies";
import { removeRestored, restoreUnsent } from "./draft/restore";
import { hasOutput, type ReplyTurn, type Row, Thread, type Turn } from "./thread.svelte";
import { MessageChanges } from "./message_changes";
import { ModelContext } from "./model_context.svelte";

type ChatRoute = Pick<Route, "conversation" | "message">;

/** Options of a conversation without messages. A temporary one is in no folder. */
export interface NewChatOptions {
  readonly temporary?: boolean;
  readonly folder?: string;
}

const REFRESH_DELAY_MS = 150;
/** The feed echoes this page's own changes; `changed` events within this time after one are ignored. */
const ECHO_MS = 1500;
const TITLE_LENGTH = 60;
const GONE = 410;

export class Chat {
  readonly #deps: ChatDependencies;
  readonly #thread = new Thread();
  readonly reply: ActiveReply;
  readonly modelContext: ModelContext;
  readonly #pending: PendingMessages;
  readonly #changes: MessageChanges;
  #id = $state.raw<string | null>(null);
  #conversation = $state.raw<Conversation | null>(null);
  #opening = $state.raw<ChatRoute | null>(null);
  #problem = $state("");
  #previous = $state.raw<string | null>(null);
  #newOptions = $state.raw<NewChatOptions>({});
  #highlighted = $state.raw<string | null>(null);
  #epoch = 0;
  #page = 0;
  /** Id for a new conversation, kept across retries so that the server creates it only once. */
  #pendingId: string | null = null;
  /** Counts local changes: an answer to a read that began before the latest change is stale. */
  #changeCount = 0;
  #muteFeedUntil = 0;
  #refreshScheduled = false;

  constructor(deps: ChatDependencies) {
    this.#deps = deps;
    this.#pending = new PendingMessages(deps);
    this.reply = new ActiveReply(deps, {
      thread: this.#thread,
      ensureConversation: () => this.#ensureConversation(),
      refresh: () => this.#scheduleRefresh(),
      onEnd: () => this.#onReplyEnd(),
    });
    this.modelContext = new ModelContext(deps, {
      id: () => this.#id,
      thread: this.#thread,
      muteFeed: () => this.#muteFeed(),
      refresh: () => this.#refresh(),
      remove: (row) => this.remove(row),
    });
    this.#changes = new MessageChanges(deps, {
      id: () => this.#id,
      running: () => this.running,
      thread: this.#thread,
      muteFeed: () => this.#muteFeed(),
      refresh: () => this.#refresh(),
      onChange: () => this.modelContext.usage.refreshSoon(),
    });
  }

  get id(): string | null {
    return this.#id;
  }

  /** A number for the chat in view. Unlike `id` it stays the same when a new chat is created on the server. */
  get page(): number {
    return this.#page;
  }

  /** Loading, with nothing to show yet. */
  get opening(): boolean {
    return this.#opening !== null && this.shown.length === 0 && this.#problem === "";
  }

  /** Why the conversation could not be opened; empty if it could. */
  get problem(): string {
    return this.#problem;
  }

  get shown(): readonly Turn[] {
    return this.#thread.turns;
  }

  get running(): boolean {
    return this.reply.id !== null;
  }

  /** Messages queued behind the running reply. */
  get pending(): readonly PendingMessage[] {
    return this.#pending.messages.filter(({ id }) => !this.reply.hasRow(id));
  }

  /** The conversation is only in the server's memory and expires. */
  get temporary(): boolean {
    return this.#id === null ? this.#newOptions.temporary === true : (this.#conversation?.temporary ?? false);
  }

  /** The conversation that was open before, to go back to. */
  get previous(): string | null {
    return this.#previous;
  }

  /** Id of the message the address points to. */
  get highlighted(): string | null {
    return this.#highlighted;
  }

  get title(): string {
    if (this.#conversation?.title) return this.#conversation.title;
    // Not of a message that the server has refused: the list of chats knows nothing of it either.
    const first = this.#thread.path.find((row) => row.role === "user" && !row.isLocal);
    return first ? first.text.trim().replace(/\s+/g, " ").slice(0, TITLE_LENGTH) : "";
  }

  /** The row and its alternatives, oldest first. */
  versions(row: Row): readonly Row[] {
    return this.#thread.versions(row);
  }

  /** Opens what the address names. The present conversation stays visible until the next one is loaded. */
  async open(route: ChatRoute): Promise<void> {
    const { conversation, message } = route;
    const epoch = ++this.#epoch;
    this.#opening = null;
    if (conversation !== null && conversation === this.#id) return this.#reveal(message);
    if (conversation === null) {
      this.#previous = this.#id ?? this.#previous;
      if (this.#id !== null) this.#newOptions = {};
      return this.#switchTo(null);
    }
    this.#opening = route;
    const answer = await this.#deps.client.open(conversation);
    if (epoch !== this.#epoch) return;
    if (answer.kind === "ok") {
      this.#opening = null;
      this.#switchTo(conversation);
      this.#load(answer.value);
      return this.#reveal(message);
    }
    this.#switchTo(null);
    this.#problem = problemOf(answer);
    if (answer.kind === "refused") {
      this.#opening = null;
      if (answer.status === 404) this.#problem = words().missing;
    }
    this.#deps.onFailure();
  }

  /** Opens an empty chat. A running reply continues in the background. */
  startNew({ temporary = false, folder }: NewChatOptions = {}): void {
    this.#deps.navigate(null);
    void this.open({ conversation: null, message: null });
    this.#newOptions = temporary ? { temporary } : folder === undefined ? {} : { folder };
  }

  /** Sends the draft. While a reply runs, the message is queued behind it, or with `steer` handed to its next step. */
  submit(steer = false): boolean {
    const { draft, attachments } = this.#deps;
    if (attachments.busy || (draft.text.trim() === "" && !attachments.ready)) return false;
    if (this.reply.starting && this.#id === null) return false;
    const text = draft.text;
    draft.text = "";
    return this.send(text, attachments.take(), steer);
  }

  send(text: string, files: readonly Content[] = [], steer = false): boolean {
    const content: Content[] = [...(text.trim() === "" ? [] : [{ type: "text", text } as const]), ...files];
    if (content.length === 0) return false;
    if (this.running) {
      void this.#queue(content, steer);
      return true;
    }
    const { parent, replaces } = this.#dropUnanswered();
    const message = messageOf({ id: newId(), parent, role: "user", content });
    this.#thread.put(message);
    const resent = { id: message.id, content: resendable(content, text) };
    this.#startReply({ verb: "send", run: newId(), message: resent, parent, busy: "queue", options: this.reply.options() }, message.id, replaces);
    return true;
  }

  /** Sends a changed version of an earlier message on a new branch; the old branch stays reachable. */
  edit(row: Row, text: string): boolean {
    const content = resendable(row.message.content, text);
    if (this.running || content.length === 0) return false;
    const message = messageOf({ id: newId(), parent: row.parent, role: "user", content: withNewText(row.message.content, text) });
    this.#thread.put(message);
    const run = newId();
    this.#startReply({ verb: "edit", run, message: row.id, new: { id: message.id, content }, options: this.reply.options() }, message.id);
    return true;
  }

  /** Generates another reply to the same message, with `model` if named. An empty failed reply is replaced. */
  regenerate(turn: ReplyTurn, model = ""): void {
    if (this.running) return;
    const isLast = turn.key === this.shown.at(-1)?.key;
    if (this.reply.unsent && isLast) return this.reply.retry(model);
    const first = turn.rows[0]!;
    const question = this.#thread.get(first.parent ?? "");
    if (question) removeRestored(this.#deps, question.message.content);
    const empty = question !== undefined && isLast && turn.rows.length === 1 && !hasOutput(first.message);
    if (empty) this.#thread.remove([first.id], question.id);
    const message = empty ? question.id : first.id;
    const options = { ...this.reply.options(), ...(model === "" ? {} : { model }) };
    this.#startReply({ verb: "regenerate", run: newId(), message, options }, first.parent, empty ? first.id : null);
  }

  /** Sends a refused message again without the files at fault. */
  sendWithoutFiles(sentence: string): void {
    const content = this.#withdrawUnsent();
    const files = filesOf(content);
    const faulty = filesAtFault(files, sentence);
    this.send(textOf(content), files.filter((file) => !faulty.includes(file)));
  }

  /** Moves a refused message back into the composer. */
  editUnsent(): void {
    const content = this.#withdrawUnsent();
    if (content.length > 0) restoreUnsent(this.#deps, this.#id, content);
  }

  /** Removes a refused message from the thread, and returns it. */
  #withdrawUnsent(): readonly Content[] {
    const placeholder = this.reply.unsent?.placeholder;
    const question = this.#thread.get(placeholder?.parent ?? "");
    const content = this.reply.withdraw();
    if (placeholder) this.#thread.remove([placeholder.id], placeholder.parent);
    if (question && content.length > 0) {
      removeRestored(this.#deps, content);
      this.#thread.remove([question.id], question.parent);
    }
    return content;
  }

  /** Generates a reply to a message that has none. */
  generateReply(row: Row): void {
    if (this.running || row.isLocal) return;
    this.#startReply({ verb: "regenerate", run: newId(), message: row.id, options: this.reply.options() }, row.id);
  }

  /** Continues a reply from its end. */
  continueReply(turn: ReplyTurn): void {
    const last = turn.rows.at(-1);
    if (this.running || !last) return;
    this.#startReply({ verb: "continue", run: newId(), message: last.id, options: this.reply.options() }, last.id);
  }

  stop(): void {
    this.reply.stop(this.#pending.sent());
  }

  /** Switches to another version of a message and the branch below it. */
  show(row: Row): Promise<void> {
    return this.#changes.show(row);
  }

  /** Changes a message without regenerating what follows. Returns a sentence if that fails. */
  rewrite(row: Row, text: string): Promise<string> {
    return this.#changes.rewrite(row, text);
  }

  deletion(row: Row): Promise<Answer<DeletionPreview>> {
    return this.#changes.deletion(row);
  }

  remove(row: Row): Promise<void> {
    return this.#changes.remove(row);
  }

  /** Copies the path up to a message into a new conversation and opens that. */
  fork(message: string): Promise<void> {
    return this.#changes.fork(message);
  }

  /** Answers an approval of the running reply. Returns a sentence if that fails. */
  answerApproval(approval: Approval, answer: ApprovalAnswer): Promise<string> {
    return this.reply.answerApproval(approval, answer);
  }

  /** Hands a queued message to the running reply at its next step. */
  async steer(pending: PendingMessage): Promise<void> {
    if (this.#id !== null) await this.#pending.steer(this.#id, pending);
  }

  /** Sends a message that waits for the user, after the running reply if there is one. */
  async sendPending(pending: PendingMessage): Promise<void> {
    if (this.#id !== null && (await this.#pending.sendNow(this.#id, pending))) this.#scheduleRefresh();
  }

  /** Cancels a queued message; with `keep` its content returns to the composer. */
  async withdraw(pending: PendingMessage, keep: boolean): Promise<void> {
    if (this.#id !== null) await this.#pending.withdraw(this.#id, pending, keep);
  }

  /** Applies an event of the feed. */
  handleEvent(event: ListEvent): void {
    if (event.type === "reset") return this.#scheduleRefresh();
    if (event.type === "removed") return this.onRemoved(event.conversation);
    if (event.conversation !== this.#id) return;
    if (event.type === "run") {
      if ((event.outcome ?? null) === null && event.run !== this.reply.id) this.#scheduleRefresh();
    } else if (this.#deps.clock.now() >= this.#muteFeedUntil) this.#scheduleRefresh();
  }

  /** The list has newer data about a conversation. */
  onUpdated(conversation: Conversation): void {
    if (conversation.id === this.#id) this.#conversation = conversation;
  }

  /** A conversation was deleted. */
  onRemoved(id: string): void {
    if (this.#id === id) {
      this.#deps.navigate(null, true);
      void this.open({ conversation: null, message: null });
    }
    if (this.#previous === id) this.#previous = null;
  }

  /** The page is about to be unloaded: saves what did not reach the server. */
  saveUnsent(): void {
    this.reply.restoreUnsent(this.#id, true);
  }

  /** The page is visible again, or the server is back. */
  resume(): void {
    this.reply.resume();
    if (this.#opening && this.#problem !== "") void this.open(this.#opening);
  }

  /** The page is hidden: closes the stream. Nothing is missed, since it resumes at the last event. */
  pause(): void {
    this.reply.pause();
  }

  #startReply(...args: Parameters<ActiveReply["start"]>): void {
    this.#muteFeed();
    this.reply.start(...args);
  }

  #switchTo(conversation: string | null): void {
    this.reply.restoreUnsent(this.#id);
    this.reply.detach();
    this.#pendingId = null;
    this.#page++;
    this.#id = conversation;
    this.#conversation = null;
    this.#problem = "";
    this.#highlighted = null;
    this.#thread.clear();
    this.#pending.clear();
    this.modelContext.reset();
    this.#deps.choices.switchTo(conversation);
    this.#deps.draft.switchTo(conversation);
    this.#deps.attachments.switchTo(conversation);
  }

  #load({ conversation, messages, run, pending, approvals }: ConversationDetail): void {
    this.#conversation = conversation;
    this.#deps.onLoaded(conversation);
    this.#deps.choices.switchTo(conversation.id, conversation.options);
    this.#thread.load(messages, conversation.leaf);
    this.#pending.load(pending);
    this.modelContext.usage.refreshSoon();
    if (run && (run.outcome ?? null) === null) this.reply.join(run.id, approvals);
  }

  #reveal(message: string | null): void {
    const row = message === null ? undefined : this.#thread.get(message);
    if (!row) return;
    if (!this.#thread.path.includes(row)) void this.show(row);
    this.#highlighted = row.id;
  }

  /** Returns the conversation's id, creating a new conversation first if needed. For calls, which also speak in it. */
  ensureConversation(): Promise<Answer<string>> {
    return this.#ensureConversation();
  }

  /** Creates a new conversation with its first message, not before, so that empty chats leave nothing behind. */
  async #ensureConversation(): Promise<Answer<string>> {
    if (this.#id !== null) return { kind: "ok", value: this.#id };
    const epoch = this.#epoch;
    const { client, choices, draft, attachments, navigate } = this.#deps;
    const { instructions } = this.modelContext;
    const options = choices.takeForNewChat();
    const created = await client.create((this.#pendingId ??= newId()), { system: instructions, options, ...this.#newOptions });
    if (created.kind !== "ok") return created;
    const { id } = created.value;
    this.#deps.onLoaded(created.value);
    if (epoch === this.#epoch) {
      this.#pendingId = null;
      this.#id = id;
      this.#conversation = created.value;
      this.#addSystemRow(created.value, instructions);
      choices.switchTo(id, options);
      draft.assignId(id);
      attachments.assignId(id);
      navigate(id);
    }
    return { kind: "ok", value: id };
  }

  /** The first message of a new conversation goes below its instructions, whose row the server has just made. */
  #addSystemRow({ leaf }: Conversation, text: string): void {
    if (text !== "" && leaf !== null) this.#thread.insertAbove(messageOf({ id: leaf, parent: null, role: "system", sequence: 1, content: [{ type: "text", text }] }));
  }

  /** A question that never got an answer is replaced by the next message instead of being sent twice. Returns the
   * parent of the next message, and the message the server has to delete first. */
  #dropUnanswered(): { parent: string | null; replaces: string | null } {
    const { unsent } = this.reply;
    const last = this.shown.at(-1);
    const question = last?.kind === "reply" && isUnanswered(last) ? this.#thread.get(last.rows[0]?.parent ?? "") : undefined;
    // A failed request to regenerate leaves only its placeholder behind.
    if (unsent?.command.verb === "regenerate") this.#thread.remove([unsent.placeholder.id]);
    else if (question?.role === "user") {
      // One that failed remains reachable as another version.
      if (!unsent && last?.kind === "reply" && last.rows[0]?.message.status !== "stopped") return { parent: question.parent, replaces: null };
      this.reply.restoreUnsent(this.#id);
      this.#thread.remove([question.id], question.parent);
      return { parent: question.parent, replaces: unsent ? null : question.id };
    }
    return { parent: this.#thread.leaf, replaces: null };
  }

  async #queue(content: readonly Content[], steer: boolean): Promise<void> {
    // The chat may have no conversation yet, and the queue belongs to one.
    const page = this.#page;
    const ensured = await this.#ensureConversation();
    if (ensured.kind !== "ok") return restoreUnsent(this.#deps, this.#id, content);
    if (page !== this.#page) return restoreUnsent(this.#deps, ensured.value, content);
    if (await this.#pending.add(ensured.value, content, this.reply.options(), steer ? "steer" : "queue")) this.#scheduleRefresh();
  }

  #onReplyEnd(): void {
    this.#muteFeed();
    this.modelContext.usage.refreshSoon();
    if (this.#pending.messages.length === 0) return;
    if (this.reply.ending?.outcome !== "done") this.#pending.hold();
    this.#scheduleRefresh();
  }

  #muteFeed(): void {
    this.#changeCount++;
    this.#muteFeedUntil = this.#deps.clock.now() + ECHO_MS;
  }

  #scheduleRefresh(): void {
    if (this.#refreshScheduled) return;
    this.#refreshScheduled = true;
    this.#deps.clock.after(REFRESH_DELAY_MS, () => {
      this.#refreshScheduled = false;
      void this.#refresh();
    });
  }

  /** Reloads the conversation and follows a run in it. Skipped while a request is under way, whose optimistic rows it
   * would overwrite. */
  async #refresh(): Promise<void> {
    const changes = () => this.#changeCount + this.#pending.changeCount;
    const [epoch, changesBefore] = [this.#epoch, changes()];
    const free = () => epoch === this.#epoch && !this.reply.starting && !this.reply.unsent;
    if (this.#id === null || !free()) return;
    const answer = await this.#deps.client.open(this.#id);
    if (!free()) return;
    // A temporary chat whose server has stopped: what is in sight is all that is left of it.
    if (answer.kind === "refused" && answer.status === GONE) this.#deps.notices.showHere(problemOf(answer));
    if (answer.kind !== "ok") return;
    if (changesBefore === changes()) this.#load(answer.value);
    else this.#scheduleRefresh();
  }
}
