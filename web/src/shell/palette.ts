// Entries of the command palette for a query: actions, settings, models, chats and messages. Pure.
import { foldText } from "../language/fold_text";
import type { Conversation, SearchHit } from "../wire/chat/rows";
import type { SettingName } from "./setting_places";
import type { Action } from "./shortcuts";

export type PaletteEntry =
  | { readonly kind: "actions"; readonly id: string; readonly label: string; readonly action: Action }
  | { readonly kind: "settings"; readonly id: string; readonly label: string; readonly synonyms: string; readonly setting: SettingName }
  | { readonly kind: "models"; readonly id: string; readonly label: string; readonly model: string }
  | { readonly kind: "chats"; readonly id: string; readonly label: string; readonly conversation: string }
  | { readonly kind: "help"; readonly id: string; readonly label: string; readonly question: string }
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

/** A match in the label itself counts more than one in its synonyms. */
function entryScore(entry: PaletteEntry, query: string): number {
  const score = matchScore(entry.label, query);
  return score > 0 || entry.kind !== "settings" ? score : matchScore(`${entry.label} ${entry.synonyms}`, query) / 10;
}

function best<Item extends PaletteEntry>(entries: readonly Item[], query: string): Item[] {
  return entries
    .map((entry) => ({ entry, score: entryScore(entry, query) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_PER_KIND)
    .map(({ entry }) => entry);
}

export interface PaletteSources {
  readonly actions: readonly { readonly action: Action; readonly label: string }[];
  readonly settings: readonly { readonly setting: SettingName; readonly label: string; readonly synonyms: string }[];
  readonly models: readonly { readonly model: string; readonly label: string }[];
  readonly chats: readonly Pick<Conversation, "id" | "title">[];
  readonly hits: readonly SearchHit[];
  /** Label of the entry that asks the help. */
  readonly askHelp: (question: string) => string;
}

/** Best matches first within each kind, and last the help. Without a query: all actions and the newest chats. */
export function paletteEntries(query: string, { actions, settings, models, chats, hits, askHelp }: PaletteSources): PaletteEntry[] {
  const actionEntries = actions.map(({ action, label }): PaletteEntry => ({ kind: "actions", id: `action-${action}`, label, action }));
  const chatEntries = chats
    .filter(({ title }) => title !== "")
    .map(({ id, title }): PaletteEntry => ({ kind: "chats", id: `chat-${id}`, label: title, conversation: id }));
  if (query.trim() === "") return [...chatEntries.slice(0, 5), ...actionEntries];
  const settingEntries = settings.map((found): PaletteEntry => ({ kind: "settings", id: `setting-${found.setting}`, ...found }));
  const modelEntries = models.map(({ model, label }): PaletteEntry => ({ kind: "models", id: `model-${model}`, label, model }));
  const hitEntries = hits
    .filter(({ message }) => message !== "")
    .slice(0, MAX_PER_KIND)
    .map((hit): PaletteEntry => ({ kind: "hits", id: `hit-${hit.conversation}-${hit.message}`, label: hit.title, hit }));
  const helpEntry: PaletteEntry = { kind: "help", id: "help", label: askHelp(query.trim()), question: query.trim() };
  return [...best(actionEntries, query), ...best(settingEntries, query), ...best(modelEntries, query), ...best(chatEntries, query), ...hitEntries, helpEntry];
}
