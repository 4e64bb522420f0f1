// The language of the page: which one it is, and the words of the others, loaded when they are wanted. English is part
// of the page and always there. Knows no word of its own; what the server says in sentences stays as it says it, but for what `problems` has.
import type { Catalogue } from "./catalogue";

export type Language = "en" | "de";

/** Each in its own language. */
export const LANGUAGES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };

const LOADERS: Readonly<Record<Exclude<Language, "en">, () => Promise<Catalogue>>> = {
  de: async () => (await import("./de")).german,
};

let words = $state.raw<Catalogue | null>(null);
let language = $state<Language>("en");
let requested: Language = "en";

/** What the page is written in now: for `lang`, and for numbers and dates. */
export function currentLanguage(): Language {
  return language;
}

/** The first of a browser's languages that there are words in. */
export function preferredLanguage(languages: readonly string[]): Language {
  const known = languages.map((language) => language.toLowerCase().split("-")[0]);
  return known.find((language): language is Language => language !== undefined && language in LANGUAGES) ?? "en";
}

/** Turn the page to a language. Until its words are here, and where they cannot be had, the page stays as it is. */
export async function setLanguage(next: Language): Promise<void> {
  requested = next;
  const loaded = next === "en" ? null : await LOADERS[next]().catch(() => undefined);
  if (loaded === undefined || requested !== next) return;
  words = loaded;
  language = next;
}

/** A room's words in the language of the page. */
export function localised<Words>(room: keyof Catalogue, english: Words): Words {
  return words === null ? english : (words[room] as Words);
}
