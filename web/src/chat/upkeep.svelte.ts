// What is done with the conversation on the page beside talking: its instructions to the model, a copy of its beginning,
// the room in the model's context and how to get more. Owns what a new conversation begins with. Knows no run and no DOM.
import { thread as words } from "../language/en/thread";
import { type Answer, problemOf } from "../wire/transport/http";
import { newId } from "../wire/rows";
import { Gauge } from "./gauge.svelte";
import type { Surroundings } from "./surroundings";
import type { Row, Thread } from "./thread.svelte";

/** The conversation it is about. */
export interface Kept {
  readonly id: () => string | null;
  readonly thread: Thread;
  /** It changed by what was done here. */
  readonly hush: () => void;
  readonly refresh: () => Promise<void>;
  readonly remove: (row: Row) => Promise<void>;
}

export class Upkeep {
  readonly gauge: Gauge;
  readonly #around: Surroundings;
  readonly #kept: Kept;
  /** Null: as the person likes it. */
  #beginning = $state<string | null>(null);
  /** The conversations whose oldest turns are being summed up. */
  #compacting = $state.raw<ReadonlySet<string>>(new Set());

  constructor(around: Surroundings, kept: Kept) {
    this.#around = around;
    this.#kept = kept;
    this.gauge = new Gauge(around.client, around.clock, () => this.#branch());
  }

  /** What the model is told before everything else; of a new conversation what it will be told. */
  get instructions(): string {
    if (this.#kept.id() === null) return this.#beginning ?? this.#around.system();
    const first = this.#kept.thread.path[0];
    return first?.role === "system" && first.kind === "message" ? first.text : "";
  }

  /** The oldest turns are being summed up. */
  get compacting(): boolean {
    return this.#compacting.has(this.#kept.id() ?? "");
  }

  /** Another conversation is on the page. */
  turn(): void {
    this.#beginning = null;
    this.gauge.clear();
  }

  /** Gives a sentence when it fails. An empty text takes the instructions away. */
  async instruct(text: string): Promise<string> {
    const id = this.#kept.id();
    const wanted = text.trim() === "" ? "" : text;
    if (id === null) {
      this.#beginning = wanted;
      return "";
    }
    this.#kept.hush();
    const answer = await this.#around.client.putSystem(id, wanted);
    if (answer.kind !== "ok") return problemOf(answer);
    if (this.#kept.id() === id) await this.#kept.refresh();
    return "";
  }

  /** Take the instructions away; they can be brought back. */
  async dismiss(): Promise<void> {
    const { notices } = this.#around;
    const before = this.instructions;
    const id = this.#kept.id();
    const problem = await this.instruct("");
    const back = () => {
      notices.clear();
      if (this.#kept.id() === id) void this.instruct(before);
    };
    if (problem === "") notices.say(words().instructionsRemoved, { label: words().undo, run: back });
    else notices.say(problem);
  }

  /** A copy of everything up to this message, as a conversation of its own, and there. */
  async fork(message: string): Promise<void> {
    const { client, notices, go, met } = this.#around;
    const id = this.#kept.id();
    if (id === null) return;
    const answer = await client.fork(id, newId(), message);
    if (answer.kind !== "ok") return notices.say(problemOf(answer));
    met(answer.value);
    if (this.#kept.id() !== id) return;
    go(answer.value.id);
    const back = () => {
      notices.clear();
      go(id);
    };
    notices.say(words().forked, { label: words().forkedFrom, run: back });
  }

  /** Sum the oldest turns up, so that there is room again. */
  async compact(): Promise<void> {
    const { client, notices, announcer } = this.#around;
    const id = this.#kept.id();
    if (id === null || this.compacting) return;
    this.#compacting = new Set([...this.#compacting, id]);
    announcer.say(words().compacting);
    this.#kept.hush();
    const answer: Answer<{ readonly id: string }> = await client.compact(id, newId(), this.#kept.thread.leaf);
    this.#compacting = new Set([...this.#compacting].filter((other) => other !== id));
    if (this.#kept.id() !== id) return;
    if (answer.kind !== "ok") return notices.say(problemOf(answer));
    this.#kept.hush();
    await this.#kept.refresh();
    this.gauge.refreshSoon();
    const undo = () => {
      notices.clear();
      const row = this.#kept.thread.get(answer.value.id);
      if (row && this.#kept.id() === id) void this.#kept.remove(row);
    };
    notices.say(words().compacted, { label: words().undo, run: undo });
  }

  #branch(): { conversation: string; leaf: string | null } | null {
    const { path } = this.#kept.thread;
    const conversation = this.#kept.id();
    if (conversation === null || path.length === 0) return null;
    return { conversation, leaf: path.findLast((row) => !row.isLocal)?.id ?? null };
  }
}
