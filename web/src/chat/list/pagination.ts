// Merges pages of several lists (all, archived, a folder's, a tag's) into one sorted set of known conversations, and
// tracks how far each list was read. Pure.
import type { ConversationPage, View } from "../../wire/chat/conversations";
import type { Conversation } from "../../wire/chat/rows";

type Known = readonly Conversation[];

export const ALL: View = { archived: false, folder: null, tag: null };

export function viewKey({ archived, folder, tag }: View): string {
  return JSON.stringify([archived, folder, tag]);
}

/** Temporary conversations are in no list. */
export function matches({ archived, folder, tag }: View, one: Conversation): boolean {
  if (one.temporary || one.archived !== archived) return false;
  return (folder === null || one.folder === folder) && (tag === null || one.tags.includes(tag));
}

/** Latest change first, the server's order. */
export function byAge(one: Conversation, other: Conversation): number {
  return other.updated - one.updated || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);
}

/** Whether a row sorts after the cursor `next`, which is "updated.id" of a page's last row. */
function isBelow({ id, updated }: Conversation, next: string | null): boolean {
  if (next === null) return false;
  const dot = next.indexOf(".");
  const last = Number(next.slice(0, dot));
  return updated < last || (updated === last && id < next.slice(dot + 1));
}

/** The known rows of a view up to the cursor `next`; null is its end. */
export function loadedRows(known: Known, view: View, next: string | null): Conversation[] {
  return known.filter((one) => matches(view, one) && (one.pinned || !isBelow(one, next)));
}

/** The known rows after reading the page after `before`. Rows that the page should contain but does not are dropped:
 * they have left the view. */
export function mergePage(known: Known, view: View, { conversations, next }: ConversationPage, before: string | null): Conversation[] {
  const listed = new Set(conversations.map(({ id }) => id));
  const covered = (one: Conversation) => (one.pinned ? before === null : (before === null || isBelow(one, before)) && !isBelow(one, next));
  const others = known.filter((one) => !listed.has(one.id) && !(matches(view, one) && covered(one)));
  return [...others, ...conversations].sort(byAge);
}

/** The known rows, with those of `kept` that are not among them. */
export function withRows(known: Known, kept: Known): readonly Conversation[] {
  const ids = new Set(known.map(({ id }) => id));
  const missing = kept.filter(({ id }) => !ids.has(id));
  return missing.length === 0 ? known : [...known, ...missing].sort(byAge);
}

/** The cursor after the first page was read again: unchanged if the page overlaps what was known, else the page's
 * own, since there may be a gap of unread rows after it. */
export function cursorAfterReload(known: Known, view: View, { conversations, next }: ConversationPage, cursor: string | null | undefined): string | null {
  if (cursor === undefined || next === null) return next;
  const before = new Map(loadedRows(known, view, cursor).map((one) => [one.id, one.updated]));
  const overlaps = conversations.some(({ id, updated, pinned }) => !pinned && before.get(id) === updated);
  return overlaps ? cursor : next;
}
