// The limits of a key as the fields of a form, and back. Pure.
import type { AppliedLimits, KeyLimits } from "../wire/server/keys";

export const UNLIMITED: AppliedLimits = { concurrent: 0, requests_per_minute: 0, tokens_per_minute: 0, tokens_per_day: 0, models: [], weight: 1 };

/** The numbers of which 0 is no limit. */
export const COUNTS = ["concurrent", "requests_per_minute", "tokens_per_minute", "tokens_per_day"] as const;
export type CountName = (typeof COUNTS)[number];
export type LimitName = CountName | "models" | "weight";

const LARGEST = 1e12;
const LEAST_WEIGHT = 0.01;
const LARGEST_WEIGHT = 100;

/** What is written in each field; an empty one is the default. `models`: whether the key has a list of its own. */
export interface LimitFields {
  readonly counts: Readonly<Record<CountName, string>>;
  readonly weight: string;
  readonly models: string;
}

export function fieldsOf(limits: KeyLimits): LimitFields {
  const text = (value: number | null | undefined) => (value === null || value === undefined ? "" : String(value));
  return {
    counts: { concurrent: text(limits.concurrent), requests_per_minute: text(limits.requests_per_minute), tokens_per_minute: text(limits.tokens_per_minute), tokens_per_day: text(limits.tokens_per_day) },
    weight: text(limits.weight),
    models: limits.models ? (limits.models.length === 0 ? "*" : limits.models.join(", ")) : "",
  };
}

/** The limits that the fields stand for, or the names of the fields that cannot be read. */
export function limitsOf({ counts, weight, models }: LimitFields): KeyLimits | readonly LimitName[] {
  const faults: LimitName[] = [];
  const read: { [Name in LimitName]?: number | readonly string[] | null } = {};
  for (const name of COUNTS) {
    const text = counts[name].replaceAll(/[\s.,'’_]/gu, "");
    if (text !== "" && (!/^\d+$/.test(text) || Number(text) > LARGEST)) faults.push(name);
    read[name] = text === "" ? null : Number(text);
  }
  const share = Number(weight.trim().replace(",", "."));
  if (weight.trim() !== "" && !(share >= LEAST_WEIGHT && share <= LARGEST_WEIGHT)) faults.push("weight");
  read.weight = weight.trim() === "" ? null : share;
  const names = models.split(/[,\n]/).map((name) => name.trim()).filter((name) => name !== "");
  // A star alone is every model, which the server has as no limit.
  read.models = names.length === 0 ? null : names.length === 1 && names[0] === "*" ? [] : names;
  return faults.length > 0 ? faults : (read as KeyLimits);
}

export function appliedLimits(own: KeyLimits, defaults: AppliedLimits): AppliedLimits {
  return {
    concurrent: own.concurrent ?? defaults.concurrent,
    requests_per_minute: own.requests_per_minute ?? defaults.requests_per_minute,
    tokens_per_minute: own.tokens_per_minute ?? defaults.tokens_per_minute,
    tokens_per_day: own.tokens_per_day ?? defaults.tokens_per_day,
    models: own.models ?? defaults.models,
    weight: own.weight ?? defaults.weight,
  };
}
