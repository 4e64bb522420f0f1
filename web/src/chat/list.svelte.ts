// The list of conversations, newest first, as far as it was looked at, and what is done with one of them as a whole.
// Kept in step by the feed. Knows no message.
import type { Clock } from "../wire/clock";
import type { ConversationClient, Listed } from "../wire/conversations";
import { problemOf } from "../wire/http";
import type { Conversation } from "../wire/rows";
import type { Waiting } from "../wire/runs";
import type { ListEvent } from "./feed";
import type { Notices } from "./notices.svelte";

/** Many changes that come together are read once. */
const SETTLE = 120;

export interface ListSurroundings {
  readonly client: ConversationClient;
  readonly clock: Clock;
  readonly notices: Notices;
  /** A conversation was taken away here, or brought back. */
  readonly deleted: (id: string) => void;
  readonly restored: (id: string) => void;
  /** What the list says now. */
  readonly noticed: (conversation: Conversation) => void;
}

export class ConversationList {
  readonly #around: ListSurroundings;
  #items = $state.raw<readonly Conversation[]>([]);
  #waiting = $state.raw<Readonly<Record<string, Waiting>>>({});
  #next = $state.raw<string | null>(null);
  #known = $state(false);
  #reading = false;
  #asked = false;
  #gone = new Set<string>();

  constructor(around: ListSurroundings) {
    this.#around = around;
  }

  get items(): readonly Conversation[] {
    return this.#items;
  }

  /** The server has said what there is. */
  get known(): boolean {
    return this.#known;
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  get(id: string | null): Conversation | undefined {
    return this.#items.find((item) => item.id === id);
  }

  /** What the running reply of a conversation waits for. */
  waiting(id: string): Waiting {
    return this.#waiting[id] ?? "";
  }

  /** Read what is newest, once more. */
  async load(): Promise<void> {
    const answer = await this.#around.client.list();
    if (answer.kind !== "ok") return;
    this.#merge(answer.value);
    this.#known = true;
  }

  async more(): Promise<void> {
    if (this.#reading || this.#next === null) return;
    this.#reading = true;
    const answer = await this.#around.client.list(this.#next);
    this.#reading = false;
    if (answer.kind !== "ok") return;
    const { conversations, next } = answer.value;
    const known = new Set(this.#items.map(({ id }) => id));
    this.#items = [...this.#items, ...conversations.filter(({ id }) => !known.has(id) && !this.#gone.has(id))];
    this.#next = next;
  }

  heard(event: ListEvent): void {
    switch (event.type) {
      case "removed":
        this.#drop(event.conversation);
        return;
      case "run": {
        const { conversation, run, waiting = "", outcome = null } = event;
        this.#waiting = { ...this.#waiting, [conversation]: outcome === null ? waiting : "" };
        this.#change(conversation, { running: outcome === null ? run : null });
        // One that is not known yet is read; and what has an answer now may stand elsewhere in the list.
        if (outcome !== null || !this.get(conversation)) this.#loadSoon();
        return;
      }
      case "changed":
      case "reset":
        this.#loadSoon();
    }
  }

  async rename(id: string, title: string): Promise<void> {
    const before = this.get(id);
    const wanted = title.trim();
    if (!before || wanted === "" || wanted === before.title) return;
    this.#change(id, { title: wanted });
    this.#around.noticed({ ...before, title: wanted });
    const answer = await this.#around.client.change(id, { title: wanted });
    if (answer.kind === "ok") return;
    this.#change(id, { title: before.title });
    this.#around.notices.say(problemOf(answer));
  }

  async delete(id: string): Promise<void> {
    const { client, notices, deleted } = this.#around;
    const before = this.get(id);
    this.#gone.add(id);
    this.#drop(id);
    deleted(id);
    const answer = await client.delete(id);
    if (answer.kind === "ok") {
      notices.say(`Deleted “${shortened(before?.title || "New chat")}”.`, { label: "Undo", run: () => void this.#restore(id) });
      return;
    }
    this.#gone.delete(id);
    notices.say(problemOf(answer));
    await this.load();
  }

  async #restore(id: string): Promise<void> {
    const { client, notices, restored } = this.#around;
    notices.clear();
    this.#gone.delete(id);
    const answer = await client.restore(id);
    if (answer.kind !== "ok") notices.say(problemOf(answer));
    await this.load();
    if (answer.kind === "ok") restored(id);
  }

  #merge({ conversations, next }: Listed): void {
    const page = conversations.filter(({ id }) => !this.#gone.has(id));
    const last = page.at(-1);
    // What was read further down stays, as long as there is anything below this page.
    const tail = next === null || !last ? [] : this.#items.filter(({ id, pinned, updated }) => !pinned && updated < last.updated && !page.some((item) => item.id === id));
    this.#items = [...page, ...tail];
    if (tail.length === 0) this.#next = next;
    for (const conversation of page) this.#around.noticed(conversation);
  }

  #change(id: string, changes: Partial<Conversation>): void {
    this.#items = this.#items.map((item) => (item.id === id ? { ...item, ...changes } : item));
  }

  #drop(id: string): void {
    this.#items = this.#items.filter((item) => item.id !== id);
  }

  #loadSoon(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#around.clock.after(SETTLE, () => {
      this.#asked = false;
      void this.load();
    });
  }
}

const SHORT = 40;

function shortened(title: string): string {
  return title.length <= SHORT ? title : `${title.slice(0, SHORT).trimEnd()}…`;
}
