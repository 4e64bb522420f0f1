// Formats a timestamp briefly: the time if it is today, else the date. Pure: now is an argument.
import type { Language } from "../language/language.svelte";

/** Both in milliseconds since 1970. */
export function timestampText(moment: number, now: number, language: Language): string {
  const at = new Date(moment);
  const today = at.toDateString() === new Date(now).toDateString();
  return new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, today ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short", year: "numeric" }).format(at);
}
