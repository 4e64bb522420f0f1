// What the model reads besides the messages of the open conversation: its instructions, the room left in the context
// window, and compaction. Owns the instructions of a conversation that does not exist yet. No DOM.
import { thread as words } from "../language/en/chat/thread";
import { type Answer, problemOf } from "../wire/transport/http";
import { newId } from "../wire/chat/rows";
import { ContextUsage } from "./context_usage.svelte";
import type { ChatDependencies } from "./dependencies";
import type { Row, Thread } from "./thread.svelte";

/** The open conversation. */
export interface ConversationHost {
  readonly id: () => string | null;
  readonly thread: Thread;
  /** This page changed the conversation: ignore the feed's echo. */
  readonly muteFeed: () => void;
  readonly refresh: () => Promise<void>;
  readonly remove: (row: Row) => Promise<void>;
}

export class ModelContext {
  readonly usage: ContextUsage;
  readonly #deps: ChatDependencies;
  readonly #host: ConversationHost;
  /** Instructions of a new conversation; null: the user's preference. */
  #newInstructions = $state<string | null>(null);
  /** Conversations that are being compacted. */
  #compacting = $state.raw<ReadonlySet<string>>(new Set());

  constructor(deps: ChatDependencies, host: ConversationHost) {
    this.#deps = deps;
    this.#host = host;
    this.usage = new ContextUsage(deps.client, deps.clock, () => this.#branch());
  }

  /** The system prompt of the conversation, or of a new one. */
  get instructions(): string {
    if (this.#host.id() === null) return this.#newInstructions ?? this.#deps.systemPrompt();
    const first = this.#host.thread.path[0];
    return first?.role === "system" && first.kind === "message" ? first.text : "";
  }

  /** The conversation is being compacted. */
  get compacting(): boolean {
    return this.#compacting.has(this.#host.id() ?? "");
  }

  /** Another conversation is on the page. */
  reset(): void {
    this.#newInstructions = null;
    this.usage.clear();
  }

  /** Returns a sentence if that fails. An empty text removes the instructions. */
  async setInstructions(text: string): Promise<string> {
    const id = this.#host.id();
    const instructions = text.trim() === "" ? "" : text;
    if (id === null) {
      this.#newInstructions = instructions;
      return "";
    }
    this.#host.muteFeed();
    const answer = await this.#deps.client.putSystem(id, instructions);
    if (answer.kind !== "ok") return problemOf(answer);
    if (this.#host.id() === id) await this.#host.refresh();
    return "";
  }

  /** Removes the instructions, with an undo. */
  async removeInstructions(): Promise<void> {
    const { notices } = this.#deps;
    const previous = this.instructions;
    const id = this.#host.id();
    const problem = await this.setInstructions("");
    const goBack = () => {
      notices.clear();
      if (this.#host.id() === id) void this.setInstructions(previous);
    };
    if (problem === "") notices.showHere(words().instructionsRemoved, { label: words().undo, run: goBack });
    else notices.showHere(problem);
  }

  /** Summarises the oldest turns to make room. */
  async compact(): Promise<void> {
    const { client, notices, announcer } = this.#deps;
    const id = this.#host.id();
    if (id === null || this.compacting) return;
    this.#compacting = new Set([...this.#compacting, id]);
    announcer.say(words().compacting);
    this.#host.muteFeed();
    const answer: Answer<{ readonly id: string }> = await client.compact(id, newId(), this.#host.thread.leaf);
    this.#compacting = new Set([...this.#compacting].filter((other) => other !== id));
    if (this.#host.id() !== id) return;
    if (answer.kind !== "ok") return notices.showHere(problemOf(answer));
    this.#host.muteFeed();
    await this.#host.refresh();
    this.usage.refreshSoon();
    const undo = () => {
      notices.clear();
      const row = this.#host.thread.get(answer.value.id);
      if (row && this.#host.id() === id) void this.#host.remove(row);
    };
    notices.showHere(words().compacted, { label: words().undo, run: undo });
  }

  #branch(): { conversation: string; leaf: string | null } | null {
    const { path } = this.#host.thread;
    const conversation = this.#host.id();
    if (conversation === null || path.length === 0) return null;
    return { conversation, leaf: path.findLast((row) => !row.isLocal)?.id ?? null };
  }
}
