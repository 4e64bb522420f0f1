// Formats numbers and durations in the page's language. A no-break space joins each number and its unit. Pure.
import { currentLanguage } from "../../language/language.svelte";
import { thread as words } from "../../language/en/chat/thread";

// Creating a formatter is expensive.
const FORMATS = new Map<string, Intl.NumberFormat>();

function formatted(value: number, digits: number, style: "decimal" | "percent" = "decimal", fixed = false): string {
  const language = currentLanguage();
  const key = `${language} ${digits} ${style} ${fixed}`;
  const format = FORMATS.get(key) ?? new Intl.NumberFormat(language, { style, maximumFractionDigits: digits, minimumFractionDigits: fixed ? digits : 0 });
  FORMATS.set(key, format);
  return format.format(value);
}

/** "12,000". */
export function whole(count: number): string {
  return formatted(count, 0);
}

/** A share from 0 to 1: "83%". */
export function percent(share: number): string {
  return formatted(share, 0, "percent");
}

export function rounded(value: number): string {
  return formatted(value, value < 10 ? 1 : 0);
}

/** "5 million", "7.6 billion", "512". */
export function magnitude(count: number): string {
  if (count >= 999.5e6) return words().figures.billion(rounded(count / 1e9));
  if (count >= 999.5e3) return words().figures.million(rounded(count / 1e6));
  return whole(count);
}

/** Milliseconds as "8 ms", "0.21 s", "3.4 s", "12 s", "2 min 5 s". */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (milliseconds < 99.5) return `${formatted(Math.max(milliseconds, 0), 0)}\u00a0ms`;
  if (seconds < 1) return `${formatted(Math.max(seconds, 0), 2, "decimal", true)}\u00a0s`;
  if (seconds < 9.95) return `${formatted(seconds, 1, "decimal", true)}\u00a0s`;
  return wholeSeconds(milliseconds);
}

/** Milliseconds as whole seconds: "3 s", "2 min 5 s". */
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
