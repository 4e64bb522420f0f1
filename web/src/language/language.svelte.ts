// The language of the page: which one it is, and the words of the others, loaded when they are wanted. English is part
// of the page and always there. Knows no word of its own; what the server says in sentences stays as it says it, but for what `problems` has.
import type { Catalogue } from "./catalogue";

export type Tongue = "en" | "de";

/** Each in its own language. */
export const TONGUES: Readonly<Record<Tongue, string>> = { en: "English", de: "Deutsch" };

const OTHERS: Readonly<Record<Exclude<Tongue, "en">, () => Promise<Catalogue>>> = {
  de: async () => (await import("./de")).german,
};

let words = $state.raw<Catalogue | null>(null);
let tongue = $state<Tongue>("en");
let wanted: Tongue = "en";

/** What the page is written in now: for `lang`, and for numbers and dates. */
export function currentTongue(): Tongue {
  return tongue;
}

/** The first of a browser's languages that there are words in. */
export function preferredTongue(languages: readonly string[]): Tongue {
  const known = languages.map((language) => language.toLowerCase().split("-")[0]);
  return known.find((language): language is Tongue => language !== undefined && language in TONGUES) ?? "en";
}

/** Turn the page to a language. Until its words are here, and where they cannot be had, the page stays as it is. */
export async function speak(next: Tongue): Promise<void> {
  wanted = next;
  const loaded = next === "en" ? null : await OTHERS[next]().catch(() => undefined);
  if (loaded === undefined || wanted !== next) return;
  words = loaded;
  tongue = next;
}

/** A room's words in the language of the page. */
export function spoken<Words>(room: keyof Catalogue, english: Words): Words {
  return words === null ? english : (words[room] as Words);
}
