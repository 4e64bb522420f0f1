// The page's language and its texts. English is bundled; other languages are loaded on demand. Sentences from the
// server stay as they are, except those translated in `problems`.
import type { Catalogue } from "./catalogue";

export type Language = "en" | "de" | "fr" | "es";

/** Each language in its own name. */
export const LANGUAGES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch", fr: "Français", es: "Español" };

const LOADERS: Readonly<Record<Exclude<Language, "en">, () => Promise<Catalogue>>> = {
  de: async () => (await import("./de")).german,
  fr: async () => (await import("./fr")).french,
  es: async () => (await import("./es")).spanish,
};

let words = $state.raw<Catalogue | null>(null);
let language = $state<Language>("en");
let requested: Language = "en";

/** The current language, for `lang`, numbers and dates. */
export function currentLanguage(): Language {
  return language;
}

/** The first of the browser's languages that the page has. */
export function preferredLanguage(languages: readonly string[]): Language {
  const codes = languages.map((language) => language.toLowerCase().split("-")[0]);
  return codes.find((language): language is Language => language !== undefined && language in LANGUAGES) ?? "en";
}

/** Switches the language once its texts are loaded. If that fails, the page stays as it is. */
export async function setLanguage(next: Language): Promise<void> {
  requested = next;
  const loaded = next === "en" ? null : await LOADERS[next]().catch(() => undefined);
  if (loaded === undefined || requested !== next) return;
  words = loaded;
  language = next;
}

/** One section of the catalogue in the current language. */
export function localised<Words>(room: keyof Catalogue, english: Words): Words {
  return words === null ? english : (words[room] as Words);
}
