// What the compiler cannot see in the texts of another language: that they are there, translated, and typeset.
import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import type { Catalogue } from "../../src/language/catalogue";
import { german } from "../../src/language/de";
import { spanish } from "../../src/language/es";
import { french } from "../../src/language/fr";
import type { Language } from "../../src/language/language.svelte";

type Parameters = readonly (string | number | readonly string[])[];

/** Texts that are the same as the English ones, in capitals or not: names, units, and words that the language has from English or
 * shares with it. */
const SHARED = ["Duologue", "JSON", "URL", "Mirostat", "Top P", "Top K", "Min P", "Typical P", "Chat", "Chats", "token", "tokens", "ms", "s"];
const SAME: Readonly<Record<Exclude<Language, "en">, readonly string[]>> = {
  de: ["Admin", "Audio", "Code", "Details", "Name", "Normal", "Prompts", "Sampling", "Seed", "Server", "System", "Tag", "Tags", "Text", "Tool", "Tools", "Version", "Video", "Worker", "optional", "reasoning budget"],
  fr: ["Actions", "Admin", "Arguments", "Assistant", "Audio", "Code", "Conversation", "Effort", "Image", "Images", "Instructions", "Long", "Message", "Million", "Modes", "Page", "Photo", "Position", "Prompts", "Section", "Sections", "Services", "Top n sigma", "Transcription", "Type", "Version", "Versions", "Worker", "Workers"],
  es: ["Admin", "Audio", "Error", "General", "Normal", "Prompts", "Top n sigma", "Video", "Videos"],
};
/** Texts that stay English on purpose: the documentation and the bundled model know only English. */
const ENGLISH = /^(help\.questions|welcome\.bundledExamples)\./;
/** Labels of keys, which each language has where they differ from the browser's names. */
const KEYS = /^shell\.keys\./;
/** Two texts around the name of a tool; which of them names its server depends on the order of words. */
const SPLIT = /^beside\.(may|run)$/;
/** Code inside texts, which has straight quotes. */
const CODE = ["'duologue[voice]'", '{"mcpServers": {…}}'];
/** Stand for what a text is about; some texts do arithmetic with it, some list it. */
const SAMPLES: readonly ((index: number) => Parameters[number])[] = [(index) => `⟦${index}⟧`, () => 1, () => 7, (index) => [`⟦${index}⟧`, `⟦${index}⟧`]];

const folder = new URL("../../src/language/en/", import.meta.url);
const CATALOGUES: Readonly<Record<Exclude<Language, "en">, Catalogue>> = { de: german, fr: french, es: spanish };

/** The rooms as English has them; `problems` has no texts of its own there. */
const english: Record<string, unknown> = {};
for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))) {
  const [group, file] = path.replace(".ts", "").split("/");
  const name = file!.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const room = ((await import(`../../src/language/en/${group}/${file}.ts`)) as Record<string, unknown>)[name];
  if (name !== "problems") english[name] = (room as () => unknown)();
}

/** Every text and function below `value`, by its path. */
function* leaves(value: unknown, path = ""): Generator<readonly [path: string, leaf: unknown]> {
  if (typeof value !== "object" || value === null) return yield [path, value];
  for (const [key, inner] of Object.entries(value)) yield* leaves(inner, path === "" ? key : `${path}.${key}`);
}

const ENGLISH_LEAVES = new Map(leaves(english));

/** What a leaf says about the samples: the same number of texts, in the same order, for each language's leaf of a path. */
function textsOf(leaf: unknown, parameters: number): (string | null)[] {
  if (typeof leaf !== "function") return [String(leaf)];
  return SAMPLES.map((sample) => {
    try {
      return String(leaf(...Array.from({ length: parameters }, (_, index) => sample(index))));
    } catch (error) {
      if (error instanceof TypeError) return null;
      throw error;
    }
  });
}

/** A text without what it is about: "⟦0⟧ tokens" -> "tokens". */
function ownWords(text: string): string {
  return text.replace(/⟦\d⟧|NaN/g, "").replace(/^[\s\d/:,.·(]+|[\s\d/:,.·)]+$/g, "");
}

describe.each(Object.entries(CATALOGUES) as [keyof typeof SAME, Catalogue][])("in %s", (language, catalogue) => {
  const { problems: _problems, ...rooms } = catalogue;
  const own = [...leaves(rooms)].filter(([path]) => !KEYS.test(path));
  const rows = own.map(([path, leaf]) => {
    const source = ENGLISH_LEAVES.get(path);
    const parameters = typeof source === "function" ? source.length : 0;
    return { path, leaf, source, texts: textsOf(leaf, parameters), sources: textsOf(source, parameters) };
  });

  it("each text has an English one, and each English one has a text", () => {
    expect(own.map(([path]) => path).sort()).toEqual([...ENGLISH_LEAVES.keys()].filter((path) => !KEYS.test(path)).sort());
  });

  it("no text is empty that is not empty in English", () => {
    for (const { path, texts, sources } of rows) {
      expect(texts.some((text) => text !== null), `${path} says something`).toBe(true);
      texts.forEach((text, index) => expect(text?.trim() === "" && sources[index]?.trim() !== "", `${path} is empty`).toBe(false));
    }
  });

  it("no text is left in English", () => {
    const allowed = new Set([...SHARED, ...SAME[language]].map((text) => text.toLowerCase()));
    const left = rows
      .filter(({ path }) => !ENGLISH.test(path))
      .flatMap(({ path, texts, sources }) => texts.flatMap((text, index) => (text !== null && text === sources[index] && /\p{L}/u.test(ownWords(text)) && !allowed.has(ownWords(text).toLowerCase()) ? [`${path}: ${text}`] : [])));
    expect([...new Set(left)]).toEqual([]);
  });

  it("a text that depends on something says as much as the English one", () => {
    const said = (text: string | null | undefined) => [...new Set(text?.match(/⟦\d⟧/g))].sort();
    for (const { path, leaf, source, texts, sources } of rows) {
      expect(typeof leaf, path).toBe(typeof source);
      // A language may ignore what it needs no word for, such as a count whose plural is like its singular.
      if (typeof leaf === "function" && typeof source === "function") expect(leaf.length, `${path} has at most ${source.length} parameters`).toBeLessThanOrEqual(source.length);
      if (!SPLIT.test(path)) expect(said(texts[0]), path).toEqual(said(sources[0]));
    }
  });

  it("quotes and apostrophes are typographic", () => {
    for (const { path, texts } of rows) {
      for (const text of texts) expect(CODE.reduce((rest, code) => rest.replace(code, ""), text ?? ""), path).not.toMatch(/["'`´]/);
    }
    // The tables of sentences are not exported, so they are read.
    const problems = readFileSync(new URL(`../${language}/shell/problems.ts`, folder), "utf8").match(/"[^"\n]*"|`[^`\n]*`/g) ?? [];
    expect(problems.length).toBeGreaterThan(50);
    for (const text of problems) expect(text.slice(1, -1), "problems").not.toMatch(/['\\"]/);
  });
});
