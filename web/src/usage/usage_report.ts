// Usage by day and by key or model, from the rows of the server. Pure: today is an argument. Days are UTC, YYYY-MM-DD.
import type { UsageRow } from "../wire/server/usage";

export interface UsageSum {
  readonly requests: number;
  readonly errors: number;
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
  /** Seconds of sound that were heard and spoken. */
  readonly sound: number;
}

export interface DayUse extends UsageSum {
  readonly day: string;
}

export interface GroupUse extends UsageSum {
  readonly id: string;
  /** A user's name, or a model. */
  readonly label: string;
  /** How the key begins. */
  readonly prefix: string;
}

export type Grouping = "key" | "model";
export type Measure = "tokens" | "requests";

const NOTHING: UsageSum = { requests: 0, errors: 0, prompt: 0, cached: 0, completion: 0, sound: 0 };

export function added(sum: UsageSum, row: UsageRow): UsageSum {
  return {
    requests: sum.requests + row.requests,
    errors: sum.errors + row.errors,
    prompt: sum.prompt + row.prompt_tokens,
    cached: sum.cached + row.cached_tokens,
    completion: sum.completion + row.completion_tokens,
    sound: sum.sound + row.sound_in_seconds + row.sound_out_seconds,
  };
}

export function total(rows: readonly UsageRow[]): UsageSum {
  return rows.reduce(added, NOTHING);
}

export function measured(sum: UsageSum, measure: Measure): number {
  return measure === "tokens" ? sum.prompt + sum.completion : sum.requests;
}

/** The day of a time in milliseconds since 1970. */
export function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

/** So many days, the last of them `last`, in order. */
export function lastDays(last: string, count: number): string[] {
  const end = Date.parse(last);
  return Array.from({ length: count }, (_, index) => dayOf(end - (count - 1 - index) * 86_400_000));
}

/** Every one of these days, also those on which nothing was used. */
export function byDay(rows: readonly UsageRow[], days: readonly string[]): DayUse[] {
  const sums = new Map<string, UsageSum>();
  for (const row of rows) sums.set(row.day, added(sums.get(row.day) ?? NOTHING, row));
  return days.map((day) => ({ day, ...(sums.get(day) ?? NOTHING) }));
}

/** The most first. */
export function byGroup(rows: readonly UsageRow[], grouping: Grouping, measure: Measure): GroupUse[] {
  const groups = new Map<string, GroupUse>();
  for (const row of rows) {
    const id = grouping === "key" ? row.key : row.model;
    const known = groups.get(id) ?? { id, label: grouping === "key" ? row.name : row.model, prefix: grouping === "key" ? row.prefix : "", ...NOTHING };
    groups.set(id, { ...known, ...added(known, row) });
  }
  return [...groups.values()].sort((one, other) => measured(other, measure) - measured(one, measure) || other.requests - one.requests || one.label.localeCompare(other.label));
}
