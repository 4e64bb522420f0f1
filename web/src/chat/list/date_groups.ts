// How long ago a conversation was last spoken in, in the groups a list shows. Pure: the time is an argument, and days
// are those of this machine's clock.
import type { Conversation } from "../../wire/rows";

export interface DateGroup {
  /** "today", "yesterday", "week" and "month" for the days before, or a month as "2026-03". */
  readonly key: string;
  readonly items: readonly Conversation[];
}

/** The beginning of the day that is so many days before `now`. */
function midnight(now: Date, daysBefore: number): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBefore).getTime();
}

/** Milliseconds until the groups of `now` are out of date. */
export function untilMidnight(now: Date): number {
  return midnight(now, -1) - now.getTime();
}

/** The newest first, as they are given. */
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
