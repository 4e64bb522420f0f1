// The conversation on the page: a view of one that lives on the server, and what a person does with it. Owns which one
// is open, and what is shown of a command before the server has answered. Knows no DOM and no address but through what
// it is given.
import { thread as words } from "../language/en/thread";
import type { DeletionPreview, ApprovalAnswer, ConversationDetail } from "../wire/conversations";
import { type Answer, problemOf } from "../wire/transport/http";
import type { GenerationOptions } from "../wire/settings";
import { type Approval, type Content, type Conversation, messageOf, newId, type PendingMessage, resendable, textOf } from "../wire/rows";
import type { Place as ShellPlace } from "../shell/place";
import type { ListEvent } from "./list/feed";
import { PendingMessages } from "./reply/pending_messages.svelte";
import { isUnanswered, ActiveReply } from "./reply/active_reply.svelte";
import { restoreUnsent, type ChatDependencies, removeRestored } from "./dependencies";
import { hasOutput, type ReplyTurn, type Row, Thread, type Turn } from "./thread.svelte";
import { ModelContext } from "./model_context.svelte";

type Place = Pick<ShellPlace, "conversation" | "message">;

/** How a conversation begins that has no message yet. A temporary one is in no folder. */
export interface NewChatOptions {
  readonly temporary?: boolean;
  readonly folder?: string;
}

const REFRESH_DELAY_MS = 150;
/** The feed repeats what was done here; for so many milliseconds it is no news. */
const ECHO_MS = 1500;
const TITLE_LENGTH = 60;

export class Chat {
  readonly #deps: ChatDependencies;
  readonly #thread = new Thread();
  readonly reply: ActiveReply;
  readonly modelContext: ModelContext;
  readonly #pending: PendingMessages;
  #id = $state.raw<string | null>(null);
  #conversation = $state.raw<Conversation | null>(null);
  #opening = $state.raw<Place | null>(null);
  #problem = $state("");
  #previous = $state.raw<string | null>(null);
  #newOptions = $state.raw<NewChatOptions>({});
  #highlighted = $state.raw<string | null>(null);
  #epoch = 0;
  #page = 0;
  /** The id of a new conversation while the server is asked to make it: asked twice, it makes one. */
  #pendingId: string | null = null;
  /** Counts what is done here: what was read before it, and comes after it, is old. */
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
  }

  get id(): string | null {
    return this.#id;
  }

  /** Which chat is in sight, by a number: a new one keeps it when it is made on the server, and has an id. */
  get page(): number {
    return this.#page;
  }

  /** Nothing can be shown yet: what the address names is on its way. */
  get opening(): boolean {
    return this.#opening !== null && this.shown.length === 0 && this.#problem === "";
  }

  /** Why there is nothing to see. */
  get problem(): string {
    return this.#problem;
  }

  get shown(): readonly Turn[] {
    return this.#thread.turns;
  }

  get running(): boolean {
    return this.reply.id !== null;
  }

  /** What waits for the running reply's end or its next step. */
  get pending(): readonly PendingMessage[] {
    return this.#pending.messages.filter(({ id }) => !this.reply.hasRow(id));
  }

  /** It is kept in the server's memory only, and not for long. */
  get temporary(): boolean {
    return this.#id === null ? this.#newOptions.temporary === true : (this.#conversation?.temporary ?? false);
  }

  /** An earlier conversation to go back to. */
  get previous(): string | null {
    return this.#previous;
  }

  /** The message that was looked for. */
  get highlighted(): string | null {
    return this.#highlighted;
  }

  get title(): string {
    if (this.#conversation?.title) return this.#conversation.title;
    const first = this.#thread.path.find(({ role }) => role === "user");
    return first ? first.text.trim().replace(/\s+/g, " ").slice(0, TITLE_LENGTH) : "";
  }

  /** The row and its alternatives, oldest first. */
  versions(row: Row): readonly Row[] {
    return this.#thread.versions(row);
  }

  /** Open what the address says. What was there stays until the other is here. */
  async open(place: Place): Promise<void> {
    const { conversation, message } = place;
    const epoch = ++this.#epoch;
    this.#opening = null;
    if (conversation !== null && conversation === this.#id) return this.#reveal(message);
    if (conversation === null) {
      this.#previous = this.#id ?? this.#previous;
      if (this.#id !== null) this.#newOptions = {};
      return this.#switchTo(null);
    }
    this.#opening = place;
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

  /** An empty page. What runs goes on without being looked at. */
  startNew({ temporary = false, folder }: NewChatOptions = {}): void {
    this.#deps.navigate(null);
    void this.open({ conversation: null, message: null });
    this.#newOptions = temporary ? { temporary } : folder === undefined ? {} : { folder };
  }

  /** Say what is typed and attached; while a reply runs, it waits for its end, or when `hurried` for its next step. */
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
    const sent = { id: message.id, content: resendable(content, text) };
    this.#startReply({ verb: "send", run: newId(), message: sent, parent, busy: "queue", options: this.reply.options() }, message.id, replaces);
    return true;
  }

  /** Say something else in place of an earlier message; what followed it stays reachable. */
  edit(row: Row, text: string): boolean {
    const content = resendable(row.message.content, text);
    if (this.running || content.length === 0) return false;
    const message = messageOf({ id: newId(), parent: row.parent, role: "user", content: withNewText(row, text) });
    this.#thread.put(message);
    const run = newId();
    this.#startReply({ verb: "edit", run, message: row.id, new: { id: message.id, content }, options: this.reply.options() }, message.id);
    return true;
  }

  /** Ask for another reply to the same message, by `model` where one is named. One that said nothing is not kept. */
  regenerate(turn: ReplyTurn, model = ""): void {
    if (this.running) return;
    const isLast = turn.key === this.shown.at(-1)?.key;
    if (this.reply.unsent && isLast) return this.reply.retry();
    const first = turn.rows[0]!;
    const question = this.#thread.get(first.parent ?? "");
    if (question) removeRestored(this.#deps, question.message.content);
    const empty = question !== undefined && isLast && turn.rows.length === 1 && !hasOutput(first.message);
    if (empty) this.#thread.remove([first.id], question.id);
    const message = empty ? question.id : first.id;
    const options = { ...this.reply.options(), ...(model === "" ? {} : { model }) };
    this.#startReply({ verb: "regenerate", run: newId(), message, options }, first.parent, empty ? first.id : null);
  }

  /** Ask for a reply to a message that has none. */
  generateReply(row: Row): void {
    if (this.running || row.isLocal) return;
    this.#startReply({ verb: "regenerate", run: newId(), message: row.id, options: this.reply.options() }, row.id);
  }

  /** Let a reply go on where it was left. */
  continueReply(turn: ReplyTurn): void {
    const last = turn.rows.at(-1);
    if (this.running || !last) return;
    this.#startReply({ verb: "continue", run: newId(), message: last.id, options: this.reply.options() }, last.id);
  }

  stop(): void {
    this.reply.stop();
  }

  /** Show another version of a message, and the branch below it. */
  async show(row: Row): Promise<void> {
    if (this.running || this.#id === null) return;
    this.#thread.show(row);
    this.#muteFeed();
    this.modelContext.usage.refreshSoon();
    await this.#deps.client.change(this.#id, { leaf: this.#thread.leaf });
    this.#muteFeed();
  }

  /** Change what a message says and nothing after it; gives a sentence when that fails. */
  async rewrite(row: Row, text: string): Promise<string> {
    if (this.#id === null) return "";
    const previous = row.message;
    row.message = { ...previous, content: withNewText(row, text), edited: 1 };
    this.#muteFeed();
    const answer = await this.#deps.client.rewrite(this.#id, row.id, resendable(previous.content, text));
    this.#muteFeed();
    if (answer.kind !== "ok") row.message = previous;
    this.modelContext.usage.refreshSoon();
    return problemOf(answer);
  }

  deletion(row: Row): Promise<Answer<DeletionPreview>> {
    return this.#deps.client.deletion(this.#id ?? "", row.id);
  }

  async remove(row: Row): Promise<void> {
    if (this.#id === null || this.running) return;
    this.#muteFeed();
    const answer = await this.#deps.client.deleteMessage(this.#id, row.id);
    this.#muteFeed();
    if (answer.kind !== "ok") return this.#deps.notices.show(problemOf(answer));
    this.#deps.announcer.say(words().deleted);
    this.modelContext.usage.refreshSoon();
    // What a summary stood for comes back in its place.
    if (row.kind === "summary" || row.role === "system") return this.#refresh();
    this.#thread.remove([row.id, ...answer.value.deleted], answer.value.leaf);
  }

  /** Answer a question of the running reply; gives a sentence when that fails. */
  answerApproval(approval: Approval, answer: ApprovalAnswer): Promise<string> {
    return this.reply.answerApproval(approval, answer);
  }

  /** What waits goes into the running reply at its next step. */
  async steer(pending: PendingMessage): Promise<void> {
    if (this.#id !== null) await this.#pending.steer(this.#id, pending);
  }

  /** What waits is taken back; with `keep` to where it was typed. */
  async withdraw(pending: PendingMessage, keep: boolean): Promise<void> {
    if (this.#id !== null) await this.#pending.withdraw(this.#id, pending, keep);
  }

  /** What the feed says of the conversations. */
  handleEvent(event: ListEvent): void {
    if (event.type === "reset") return this.#scheduleRefresh();
    if (event.type === "removed") return this.onRemoved(event.conversation);
    if (event.conversation !== this.#id) return;
    if (event.type === "run") {
      if ((event.outcome ?? null) === null && event.run !== this.reply.id) this.#scheduleRefresh();
    } else if (this.#deps.clock.now() >= this.#muteFeedUntil) this.#scheduleRefresh();
  }

  /** How the list shows a conversation now. */
  onUpdated(conversation: Conversation): void {
    if (conversation.id === this.#id) this.#conversation = conversation;
  }

  /** A conversation was taken away. */
  onRemoved(id: string): void {
    if (this.#id === id) {
      this.#deps.navigate(null, true);
      void this.open({ conversation: null, message: null });
    }
    if (this.#previous === id) this.#previous = null;
  }

  /** The page goes away: what has not arrived is not to go with it. */
  saveUnsent(): void {
    this.reply.restoreUnsent(this.#id, true);
  }

  /** The page is looked at again, or the server is back. */
  resume(): void {
    this.reply.resume();
    if (this.#opening && this.#problem !== "") void this.open(this.#opening);
  }

  /** Nobody looks: the line is let go, and nothing is missed. */
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
    this.#pending.load([]);
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

  /** Something is about to be said in it elsewhere: its id, and a new conversation where there is none yet. */
  ensureConversation(): Promise<Answer<string>> {
    return this.#ensureConversation();
  }

  /** The id; a new conversation is made when something is first said in it. */
  async #ensureConversation(): Promise<Answer<string>> {
    if (this.#id !== null) return { kind: "ok", value: this.#id };
    const epoch = this.#epoch;
    const { client, choices, draft, attachments, navigate } = this.#deps;
    const { instructions } = this.modelContext;
    const { model, thinking, effort, tools, servers } = choices.current;
    const options = JSON.parse(JSON.stringify({ model, thinking, effort, tools, servers })) as GenerationOptions;
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

  /** A new conversation stands at its instructions: what is said in it goes below them. */
  #addSystemRow({ leaf }: Conversation, text: string): void {
    if (text !== "" && leaf !== null) this.#thread.insertAbove(messageOf({ id: leaf, parent: null, role: "system", sequence: 1, content: [{ type: "text", text }] }));
  }

  /** What was said just now and had no answer at all is said again, not twice: gives where, and what to delete first. */
  #dropUnanswered(): { parent: string | null; replaces: string | null } {
    const { unsent } = this.reply;
    const last = this.shown.at(-1);
    const question = last?.kind === "reply" && isUnanswered(last) ? this.#thread.get(last.rows[0]?.parent ?? "") : undefined;
    // A reply that was asked for once more, and not even that arrived: only the asking goes.
    if (unsent?.command.verb === "regenerate") this.#thread.remove([unsent.placeholder.id]);
    else if (question?.role === "user") {
      this.#thread.remove([question.id], question.parent);
      return { parent: question.parent, replaces: unsent ? null : question.id };
    }
    return { parent: this.#thread.leaf, replaces: null };
  }

  async #queue(content: readonly Content[], steer: boolean): Promise<void> {
    // A new chat may not be a conversation yet, and what waits for its first reply waits in one.
    const page = this.#page;
    const ensured = await this.#ensureConversation();
    if (ensured.kind !== "ok") return restoreUnsent(this.#deps, this.#id, content);
    if (page !== this.#page) return restoreUnsent(this.#deps, ensured.value, content);
    if (await this.#pending.add(ensured.value, content, this.reply.options(), steer ? "steer" : "queue")) this.#scheduleRefresh();
  }

  #onReplyEnd(): void {
    this.#muteFeed();
    this.modelContext.usage.refreshSoon();
    if (this.#pending.messages.length > 0) this.#scheduleRefresh();
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

  /** Read the conversation again, and follow what runs in it. */
  async #refresh(): Promise<void> {
    const [epoch, changeCount] = [this.#epoch, this.#changeCount];
    const free = () => epoch === this.#epoch && !this.reply.starting && !this.reply.unsent;
    if (this.#id === null || !free()) return;
    const answer = await this.#deps.client.open(this.#id);
    if (answer.kind !== "ok" || !free()) return;
    if (changeCount === this.#changeCount) this.#load(answer.value);
    else this.#scheduleRefresh();
  }
}

/** A row's content with another text. */
function withNewText(row: Row, text: string): Content[] {
  const { content } = row.message;
  if (textOf(content) === text) return [...content];
  return [...(text.trim() === "" ? [] : [{ type: "text", text } as const]), ...content.filter(({ type }) => type !== "text")];
}
