// Groups conversations by their last change: today, yesterday and so on. Pure: the time is an argument; days are those
// of the local time zone.
import type { Conversation } from "../../wire/chat/rows";

export interface DateGroup {
  /** "today", "yesterday", "week" and "month" for the last 7 and 30 days, or a month as "2026-03". */
  readonly key: string;
  readonly items: readonly Conversation[];
}

/** Start of the day that many days before `now`. */
function midnight(now: Date, daysBefore: number): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBefore).getTime();
}

/** Milliseconds until "today" changes. */
export function untilMidnight(now: Date): number {
  return midnight(now, -1) - now.getTime();
}

/** `items` are sorted, newest first. */
export function dateGroups(items: readonly Conversation[], now: Date): DateGroup[] {
  const starts = [
    ["today", midnight(now, 0)],
    ["yesterday", midnight(now, 1)],
    ["week", midnight(now, 7)],
    ["month", midnight(now, 30)],
  ] as const;
  const groups = new Map<string, Conversation[]>();
  for (const item of items) {
    const key = starts.find(([, start]) => item.updated >= start)?.[0] ?? monthOf(new Date(item.updated));
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups].map(([key, inside]) => ({ key, items: inside }));
}

function monthOf(day: Date): string {
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}`;
}
