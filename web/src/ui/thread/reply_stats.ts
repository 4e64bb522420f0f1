// The statistics of a reply below it: tokens, rate, waiting times. Pure.
import { thread as words } from "../../language/en/thread";
import type { Message } from "../../wire/rows";
import { duration, rounded, tokens, whole } from "../parts/number_format";

/** What a reply cost, over all its turns. Milliseconds; null where the server did not say. */
export interface ReplyStats {
  readonly tokens: number;
  /** Of `tokens`, reasoning and not said. */
  readonly reasoning: number;
  readonly input: number | null;
  /** Of `input`, kept from an earlier reply. */
  readonly cached: number;
  readonly generateMs: number | null;
  readonly firstTokenMs: number | null;
  readonly queueMs: number;
  readonly estimated: boolean;
}

/** Of a reply's rows; null where there is nothing to say. */
export function replyStats(messages: readonly Pick<Message, "usage" | "timings">[]): ReplyStats | null {
  const sum = (values: readonly (number | undefined)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const counted = messages.filter(({ usage }) => usage !== null);
  const tokens = sum(counted.map(({ usage }) => usage?.output));
  if (tokens === 0) return null;
  const last = counted.at(-1)?.usage;
  return {
    tokens,
    reasoning: sum(counted.map(({ usage }) => usage?.reasoning)),
    input: last?.input ?? null,
    cached: last?.cached ?? 0,
    generateMs: sum(counted.map(({ timings }) => timings?.generate)) || null,
    firstTokenMs: counted[0]?.timings?.first || null,
    queueMs: sum(counted.map(({ timings }) => timings?.queue)),
    estimated: counted.some(({ usage }) => usage?.estimated === true),
  };
}

// Below this many milliseconds a rate says more about the clock than about the model.
const MIN_RATE_MS = 20;
/** A wait for a slot that is worth a word, milliseconds. */
const MIN_WAIT_MS = 500;

/** What a reply cost, in one line; only what is known. */
export function statsSummary({ tokens: written, generateMs, firstTokenMs, estimated }: ReplyStats): string {
  const parts = [`${estimated ? "~" : ""}${tokens(written)}`];
  if (generateMs && generateMs >= MIN_RATE_MS && written > 1) parts.push(words().figures.perSecond(rounded(written / (generateMs / 1000))));
  if (firstTokenMs !== null) parts.push(words().figures.firstAfter(duration(firstTokenMs)));
  return parts.join(" · ");
}

/** The rest of it: who wrote, what was read, what was waited for. */
export function statsDetail({ input, cached, reasoning, queueMs, estimated }: ReplyStats, model: string): string {
  const parts = [words().figures.by(model)];
  if (input !== null) parts.push(`${estimated ? "~" : ""}${words().figures.read(tokens(input))}${cached > 0 ? `, ${words().figures.kept(whole(cached))}` : ""}`);
  if (reasoning > 0) parts.push(words().figures.thought(tokens(reasoning)));
  if (queueMs >= MIN_WAIT_MS) parts.push(words().figures.waited(duration(queueMs)));
  return parts.join(" · ");
}
