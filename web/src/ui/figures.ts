// Numbers as a person reads them; a number and its unit never part at a line's end. Pure.
import type { Figures } from "../chat/reply";

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
