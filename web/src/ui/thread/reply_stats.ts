// The statistics of a reply below it: tokens, rate, waiting times. Pure.
import { thread as words } from "../../language/en/chat/thread";
import type { Message } from "../../wire/chat/rows";
import { duration, rounded, tokens, whole } from "../parts/number_format";

/** Totals over all turns of a reply, in tokens and milliseconds; null if the server did not report it. */
export interface ReplyStats {
  readonly tokens: number;
  /** Part of `tokens` that was reasoning. */
  readonly reasoning: number;
  readonly input: number | null;
  /** Part of `input` that came from the prompt cache. */
  readonly cached: number;
  readonly generateMs: number | null;
  readonly firstTokenMs: number | null;
  readonly queueMs: number;
  readonly estimated: boolean;
}

/** Null if there is nothing to show. */
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

// For shorter times a rate is meaningless.
const MIN_RATE_MS = 20;
/** Shorter waits in the queue are not mentioned. */
const MIN_WAIT_MS = 500;

/** One line with what is known. */
export function statsSummary({ tokens: written, generateMs, firstTokenMs, estimated }: ReplyStats): string {
  const parts = [`${estimated ? "~" : ""}${tokens(written)}`];
  if (generateMs && generateMs >= MIN_RATE_MS && written > 1) parts.push(words().figures.perSecond(rounded(written / (generateMs / 1000))));
  if (firstTokenMs !== null) parts.push(words().figures.firstAfter(duration(firstTokenMs)));
  return parts.join(" · ");
}

/** The details: model, input, reasoning, waiting time. */
export function statsDetail({ input, cached, reasoning, queueMs, estimated }: ReplyStats, model: string): string {
  const parts = [words().figures.by(model)];
  if (input !== null) parts.push(`${estimated ? "~" : ""}${words().figures.read(tokens(input))}${cached > 0 ? `, ${words().figures.kept(whole(cached))}` : ""}`);
  if (reasoning > 0) parts.push(words().figures.thought(tokens(reasoning)));
  if (queueMs >= MIN_WAIT_MS) parts.push(words().figures.waited(duration(queueMs)));
  return parts.join(" · ");
}
