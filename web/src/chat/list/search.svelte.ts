// Searching everything that was ever said: the words typed, and what the server found. Owns when to ask, and that a
// late answer to earlier words is dropped.
import type { Clock } from "../../wire/transport/clock";
import type { ConversationClient } from "../../wire/conversations";
import { problemOf } from "../../wire/transport/http";
import type { SearchHit } from "../../wire/rows";

/** Milliseconds without another letter. */
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

/** The places found in one conversation. */
export interface ConversationHits {
  readonly conversation: string;
  readonly title: string;
  readonly archived: boolean;
  readonly hits: readonly SearchHit[];
}

/** Each conversation once, where its best place was. */
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

/** A snippet cut at its marks; they count characters, which JavaScript does not. */
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
