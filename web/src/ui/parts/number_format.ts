// Numbers as a person reads them, in the language of the page; a number and its unit never part at a line's end. Pure.
import { currentTongue } from "../../language/language.svelte";
import { thread as words } from "../../language/en/thread";
import type { Message } from "../../wire/rows";

/** What a reply cost, over all its turns. Milliseconds; null where the server did not say. */
export interface Figures {
  readonly tokens: number;
  /** Of `tokens`, thought and not said. */
  readonly thought: number;
  readonly input: number | null;
  /** Of `input`, kept from an earlier reply. */
  readonly cached: number;
  readonly generating: number | null;
  readonly first: number | null;
  readonly queue: number;
  readonly estimated: boolean;
}

/** Of a reply's rows; null where there is nothing to say. */
export function figuresOf(messages: readonly Pick<Message, "usage" | "timings">[]): Figures | null {
  const sum = (values: readonly (number | undefined)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const counted = messages.filter(({ usage }) => usage !== null);
  const tokens = sum(counted.map(({ usage }) => usage?.output));
  if (tokens === 0) return null;
  const last = counted.at(-1)?.usage;
  return {
    tokens,
    thought: sum(counted.map(({ usage }) => usage?.reasoning)),
    input: last?.input ?? null,
    cached: last?.cached ?? 0,
    generating: sum(counted.map(({ timings }) => timings?.generate)) || null,
    first: counted[0]?.timings?.first || null,
    queue: sum(counted.map(({ timings }) => timings?.queue)),
    estimated: counted.some(({ usage }) => usage?.estimated === true),
  };
}

// Making one costs more than all its uses.
const FORMATS = new Map<string, Intl.NumberFormat>();

function formatted(value: number, digits: number, style: "decimal" | "percent" = "decimal", fixed = false): string {
  const tongue = currentTongue();
  const key = `${tongue} ${digits} ${style} ${fixed}`;
  const format = FORMATS.get(key) ?? new Intl.NumberFormat(tongue, { style, maximumFractionDigits: digits, minimumFractionDigits: fixed ? digits : 0 });
  FORMATS.set(key, format);
  return format.format(value);
}

/** "12,000". */
export function whole(count: number): string {
  return formatted(count, 0);
}

/** Of a share from 0 to 1: "83%". */
export function percent(share: number): string {
  return formatted(share, 0, "percent");
}

function round(value: number): string {
  return formatted(value, value < 10 ? 1 : 0);
}

/** "5 million", "7.6 billion", "512". */
export function magnitude(count: number): string {
  if (count >= 999.5e6) return words().figures.billion(round(count / 1e9));
  if (count >= 999.5e3) return words().figures.million(round(count / 1e6));
  return whole(count);
}

/** Of milliseconds: "8 ms", "0.21 s", "3.4 s", "12 s", "2 min 5 s". */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (milliseconds < 99.5) return `${formatted(Math.max(milliseconds, 0), 0)}\u00a0ms`;
  if (seconds < 1) return `${formatted(Math.max(seconds, 0), 2, "decimal", true)}\u00a0s`;
  if (seconds < 9.95) return `${formatted(seconds, 1, "decimal", true)}\u00a0s`;
  return wholeSeconds(milliseconds);
}

/** Of milliseconds, without parts of a second: "3 s", "2 min 5 s". */
export function wholeSeconds(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds}\u00a0s`;
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)}\u00a0min${rest ? ` ${rest}\u00a0s` : ""}`;
}

/** "1 token", "38 tokens". */
export function tokens(count: number): string {
  return words().figures.tokens(count, whole(count));
}

// Below this many milliseconds a rate says more about the clock than about the model.
const SHORTEST = 20;
/** A wait for a slot that is worth a word, milliseconds. */
const WAITED = 500;

/** What a reply cost, in one line; only what is known. */
export function summary({ tokens: written, generating, first, estimated }: Figures): string {
  const parts = [`${estimated ? "~" : ""}${tokens(written)}`];
  if (generating && generating >= SHORTEST && written > 1) parts.push(words().figures.perSecond(round(written / (generating / 1000))));
  if (first !== null) parts.push(words().figures.firstAfter(duration(first)));
  return parts.join(" · ");
}

/** The rest of it: who wrote, what was read, what was waited for. */
export function detail({ input, cached, thought, queue, estimated }: Figures, model: string): string {
  const parts = [words().figures.by(model)];
  if (input !== null) parts.push(`${estimated ? "~" : ""}${words().figures.read(tokens(input))}${cached > 0 ? `, ${words().figures.kept(whole(cached))}` : ""}`);
  if (thought > 0) parts.push(words().figures.thought(tokens(thought)));
  if (queue >= WAITED) parts.push(words().figures.waited(duration(queue)));
  return parts.join(" · ");
}
