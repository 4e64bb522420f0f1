// Numbers as a person reads them; a number and its unit never part at a line's end. Pure.
import type { Message } from "../wire/rows";

/** What a reply cost, over all its turns. Milliseconds; null where the server did not say. */
export interface Figures {
  readonly tokens: number;
  readonly input: number | null;
  readonly generating: number | null;
  readonly first: number | null;
}

/** Of a reply's rows; null where there is nothing to say. */
export function figuresOf(messages: readonly Pick<Message, "usage" | "timings">[]): Figures | null {
  const sum = (values: readonly (number | undefined)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const counted = messages.filter(({ usage }) => usage !== null);
  const tokens = sum(counted.map(({ usage }) => usage?.output));
  if (tokens === 0) return null;
  return {
    tokens,
    input: counted.at(-1)?.usage?.input ?? null,
    generating: sum(counted.map(({ timings }) => timings?.generate)) || null,
    first: counted[0]?.timings?.first || null,
  };
}

function round(value: number): string {
  return (value < 10 ? Math.round(value * 10) / 10 : Math.round(value)).toLocaleString("en");
}

/** "5 million", "7.6 billion", "512". */
export function magnitude(count: number): string {
  if (count >= 999.5e6) return `${round(count / 1e9)}\u00a0billion`;
  if (count >= 999.5e3) return `${round(count / 1e6)}\u00a0million`;
  return count.toLocaleString("en");
}

/** Of milliseconds: "0.21 s", "3.4 s", "12 s", "2 min 5 s". */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 1) return `${(Math.max(milliseconds, 0) / 1000).toFixed(2)}\u00a0s`;
  if (seconds < 9.95) return `${seconds.toFixed(1)}\u00a0s`;
  return wholeSeconds(milliseconds);
}

/** Of milliseconds, without parts of a second: "3 s", "2 min 5 s". */
export function wholeSeconds(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds}\u00a0s`;
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)}\u00a0min${rest ? ` ${rest}\u00a0s` : ""}`;
}

/** "2 replies"; the word as it is for one. */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")}\u00a0${count === 1 ? one : many}`;
}

/** "1 token", "38 tokens". */
export function tokens(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "token" : "tokens"}`;
}

// Below this many milliseconds a rate says more about the clock than about the model.
const SHORTEST = 20;

/** What a reply cost, in one line; only what is known. */
export function summary({ tokens: written, generating, first }: Figures): string {
  const parts = [tokens(written)];
  if (generating && generating >= SHORTEST && written > 1) parts.push(`${round(written / (generating / 1000))} per second`);
  if (first !== null) parts.push(`first after ${duration(first)}`);
  return parts.join(" · ");
}
