// Entries of the command palette for a query: actions, models, chats and messages. Pure.
import { foldText } from "../language/fold_text";
import type { Conversation, SearchHit } from "../wire/rows";
import type { Action } from "./shortcuts";

export type PaletteEntry =
  | { readonly kind: "actions"; readonly id: string; readonly label: string; readonly action: Action }
  | { readonly kind: "models"; readonly id: string; readonly label: string; readonly model: string }
  | { readonly kind: "chats"; readonly id: string; readonly label: string; readonly conversation: string }
  | { readonly kind: "hits"; readonly id: string; readonly label: string; readonly hit: SearchHit };

/** Limit per kind. */
const MAX_PER_KIND = 8;

/** Scores a label: every word of the query must occur in it, and matches at the start of a word count more. 0 is no
 * match. */
export function matchScore(label: string, query: string): number {
  const text = foldText(label);
  let score = 1;
  for (const word of foldText(query).split(/\s+/).filter((part) => part !== "")) {
    const at = text.indexOf(word);
    if (at < 0) return 0;
    score += at === 0 ? 3 : /[\s"„“(/-]/.test(text[at - 1]!) ? 2 : 1;
  }
  return score;
}

function best<Item extends PaletteEntry>(entries: readonly Item[], query: string): Item[] {
  return entries
    .map((entry) => ({ entry, score: matchScore(entry.label, query) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_PER_KIND)
    .map(({ entry }) => entry);
}

export interface PaletteSources {
  readonly actions: readonly { readonly action: Action; readonly label: string }[];
  readonly models: readonly { readonly model: string; readonly label: string }[];
  readonly chats: readonly Pick<Conversation, "id" | "title">[];
  readonly hits: readonly SearchHit[];
}

/** Best matches first within each kind. Without a query: all actions and the newest chats. */
export function paletteEntries(query: string, { actions, models, chats, hits }: PaletteSources): PaletteEntry[] {
  const actionEntries = actions.map(({ action, label }): PaletteEntry => ({ kind: "actions", id: `action-${action}`, label, action }));
  const chatEntries = chats
    .filter(({ title }) => title !== "")
    .map(({ id, title }): PaletteEntry => ({ kind: "chats", id: `chat-${id}`, label: title, conversation: id }));
  if (query.trim() === "") return [...chatEntries.slice(0, 5), ...actionEntries];
  const modelEntries = models.map(({ model, label }): PaletteEntry => ({ kind: "models", id: `model-${model}`, label, model }));
  const hitEntries = hits
    .filter(({ message }) => message !== "")
    .slice(0, MAX_PER_KIND)
    .map((hit): PaletteEntry => ({ kind: "hits", id: `hit-${hit.conversation}-${hit.message}`, label: hit.title, hit }));
  return [...best(actionEntries, query), ...best(modelEntries, query), ...best(chatEntries, query), ...hitEntries];
}
