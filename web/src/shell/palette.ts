// What the palette lists for what was typed: actions, models, chats, places in messages. Pure.
import type { Conversation, SearchHit } from "../wire/rows";
import type { Action } from "./shortcuts";

export type Entry =
  | { readonly kind: "actions"; readonly id: string; readonly label: string; readonly action: Action }
  | { readonly kind: "models"; readonly id: string; readonly label: string; readonly model: string }
  | { readonly kind: "chats"; readonly id: string; readonly label: string; readonly conversation: string }
  | { readonly kind: "hits"; readonly id: string; readonly label: string; readonly hit: SearchHit };

/** Of each kind at most so many. */
const MOST = 8;

function plain(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase();
}

/** How well `words` fit a label: all must occur, best where words begin. 0 is not at all. */
export function fit(label: string, words: string): number {
  const inside = plain(label);
  let score = 1;
  for (const word of plain(words).split(/\s+/).filter((part) => part !== "")) {
    const at = inside.indexOf(word);
    if (at < 0) return 0;
    score += at === 0 ? 3 : /[\s"„“(/-]/.test(inside[at - 1]!) ? 2 : 1;
  }
  return score;
}

function best<Item extends Entry>(entries: readonly Item[], words: string): Item[] {
  return entries
    .map((entry) => ({ entry, score: fit(entry.label, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST)
    .map(({ entry }) => entry);
}

export interface Sources {
  readonly actions: readonly { readonly action: Action; readonly label: string }[];
  readonly models: readonly { readonly model: string; readonly label: string }[];
  readonly chats: readonly Pick<Conversation, "id" | "title">[];
  readonly hits: readonly SearchHit[];
}

/** Best first within their kinds. Nothing typed: every action, and the newest chats. */
export function entriesOf(words: string, { actions, models, chats, hits }: Sources): Entry[] {
  const deeds = actions.map(({ action, label }): Entry => ({ kind: "actions", id: `action-${action}`, label, action }));
  const named = chats
    .filter(({ title }) => title !== "")
    .map(({ id, title }): Entry => ({ kind: "chats", id: `chat-${id}`, label: title, conversation: id }));
  if (words.trim() === "") return [...named.slice(0, 5), ...deeds];
  const others = models.map(({ model, label }): Entry => ({ kind: "models", id: `model-${model}`, label, model }));
  const places = hits
    .filter(({ message }) => message !== "")
    .slice(0, MOST)
    .map((hit): Entry => ({ kind: "hits", id: `hit-${hit.conversation}-${hit.message}`, label: hit.title, hit }));
  return [...best(deeds, words), ...best(others, words), ...best(named, words), ...places];
}
