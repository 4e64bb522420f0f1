// Full-text search: the query and its hits. Owns the debounce, and drops answers to earlier queries.
import type { Clock } from "../../wire/transport/clock";
import type { ConversationClient } from "../../wire/chat/conversations";
import { problemOf } from "../../wire/transport/http";
import type { SearchHit } from "../../wire/chat/rows";

/** Milliseconds after the last keystroke. */
const DEBOUNCE_MS = 150;

export class Search {
  readonly #client: ConversationClient;
  readonly #clock: Clock;
  #query = $state("");
  #hits = $state.raw<readonly SearchHit[] | null>(null);
  #problem = $state("");
  #cancelTimer: (() => void) | null = null;
  #abort: AbortController | null = null;

  constructor(client: ConversationClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  get query(): string {
    return this.#query;
  }

  set query(query: string) {
    this.#query = query;
    this.#cancelTimer?.();
    this.#abort?.abort();
    this.#abort = null;
    if (query.trim() === "") {
      this.#hits = null;
      this.#problem = "";
    } else this.#cancelTimer = this.#clock.after(DEBOUNCE_MS, () => void this.#search(query.trim()));
  }

  /** Null before the first answer. */
  get hits(): readonly SearchHit[] | null {
    return this.#hits;
  }

  get problem(): string {
    return this.#problem;
  }

  async #search(query: string): Promise<void> {
    const abort = (this.#abort = new AbortController());
    const answer = await this.#client.search(query, abort.signal);
    if (this.#abort !== abort) return;
    this.#hits = answer.kind === "ok" ? answer.value : [];
    this.#problem = problemOf(answer);
  }
}

/** The hits in one conversation. */
export interface ConversationHits {
  readonly conversation: string;
  readonly title: string;
  readonly archived: boolean;
  readonly hits: readonly SearchHit[];
}

/** Groups hits by conversation, in the order of each one's best hit. */
export function byConversation(hits: readonly SearchHit[]): ConversationHits[] {
  const byId = new Map<string, SearchHit[]>();
  for (const hit of hits) byId.set(hit.conversation, [...(byId.get(hit.conversation) ?? []), hit]);
  return [...byId].map(([conversation, group]) => {
    const { title, archived = false } = group[0]!;
    return { conversation, title, archived, hits: group };
  });
}

export interface SnippetPart {
  readonly text: string;
  readonly marked: boolean;
}

/** Splits a snippet at its marks. Marks count code points, while JavaScript strings count UTF-16 units. */
export function snippetParts(snippet: string, marks: SearchHit["marks"]): SnippetPart[] {
  const characters = Array.from(snippet);
  const parts: SnippetPart[] = [];
  let at = 0;
  for (const [start, end] of marks ?? []) {
    if (start > at) parts.push({ text: characters.slice(at, start).join(""), marked: false });
    parts.push({ text: characters.slice(Math.max(start, at), end).join(""), marked: true });
    at = Math.max(at, end);
  }
  parts.push({ text: characters.slice(at).join(""), marked: false });
  return parts.filter(({ text }) => text !== "");
}
