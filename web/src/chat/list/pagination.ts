// What is known of the conversations: rows from several lists (all, the archived ones, a folder's, a tag's), each read
// page by page, in one order. Owns how a page that was read changes what is known, and how far a list reaches. Pure.
import type { ConversationPage, View } from "../../wire/conversations";
import type { Conversation } from "../../wire/rows";

type Known = readonly Conversation[];

export const ALL: View = { archived: false, folder: null, tag: null };

export function viewKey({ archived, folder, tag }: View): string {
  return JSON.stringify([archived, folder, tag]);
}

/** Temporary ones are in no list of the server. */
export function matches({ archived, folder, tag }: View, one: Conversation): boolean {
  if (one.temporary || one.archived !== archived) return false;
  return (folder === null || one.folder === folder) && (tag === null || one.tags.includes(tag));
}

/** The newest change first, as the server has it. */
export function byAge(one: Conversation, other: Conversation): number {
  return other.updated - one.updated || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);
}

/** Whether a row stands below a page that ends in `next`. */
function isBelow({ id, updated }: Conversation, next: string | null): boolean {
  if (next === null) return false;
  const dot = next.indexOf(".");
  const last = Number(next.slice(0, dot));
  return updated < last || (updated === last && id < next.slice(dot + 1));
}

/** What of a list is known as far as it was read: up to `next`, or whole where that is null. */
export function loadedRows(known: Known, view: View, next: string | null): Conversation[] {
  return known.filter((one) => matches(view, one) && (one.pinned || !isBelow(one, next)));
}

/** What is known with a page of a list in it, that was asked for with `before`. What the list has no more is left out. */
export function mergePage(known: Known, view: View, { conversations, next }: ConversationPage, before: string | null): Conversation[] {
  const listed = new Set(conversations.map(({ id }) => id));
  const covered = (one: Conversation) => (one.pinned ? before === null : (before === null || isBelow(one, before)) && !isBelow(one, next));
  const others = known.filter((one) => !listed.has(one.id) && !(matches(view, one) && covered(one)));
  return [...others, ...conversations].sort(byAge);
}

/** How far a list is known when its first page was read once more: as far as before, unless more came than a page. */
export function cursorAfterReload(known: Known, view: View, { conversations, next }: ConversationPage, cursor: string | null | undefined): string | null {
  if (cursor === undefined || next === null) return next;
  const before = new Map(loadedRows(known, view, cursor).map((one) => [one.id, one.updated]));
  const overlaps = conversations.some(({ id, updated, pinned }) => !pinned && before.get(id) === updated);
  return overlaps ? cursor : next;
}
