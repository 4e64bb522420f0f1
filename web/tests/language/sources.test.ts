// Components must take every text from the catalogue: any other would stay English in all languages.
import { readdirSync, readFileSync } from "node:fs";

import { type AST, parse } from "svelte/compiler";
import { describe, expect, it } from "vitest";

const folder = new URL("../../src/ui/", import.meta.url);
const SPOKEN = new Set(["aria-label", "title", "placeholder", "alt", "label"]);
/** Names and keys that are the same in every language. */
const NAMES = new Set(["Duologue", "Enter", "Shift Enter", "Esc", "Markdown", "JSON"]);

type Node = { type?: string; name?: string; data?: string; [key: string]: unknown };

function isText(text: string): boolean {
  const words = text.trim();
  return /\p{L}{2,}/u.test(words) && !NAMES.has(words);
}

function* textsIn(node: unknown, within = ""): Generator<string> {
  if (Array.isArray(node)) for (const inner of node) yield* textsIn(inner, within);
  if (typeof node !== "object" || node === null || Array.isArray(node)) return;
  const { type, name, data, ...rest } = node as Node;
  if (type === "Text") {
    if (typeof data === "string" && (within === "" || SPOKEN.has(within)) && isText(data)) yield data.trim();
    return;
  }
  if (type === "RegularElement" && (name === "code" || name === "style")) return;
  const attribute = type === "Attribute" ? String(name) : type === "RegularElement" || type === "Component" ? "" : within;
  for (const inner of Object.values(rest)) yield* textsIn(inner, attribute);
}

describe("every component", () => {
  it.each(readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".svelte")))("%s takes its words from the catalogue", (name) => {
    const { fragment } = parse(readFileSync(new URL(name, folder), "utf8"), { modern: true }) as AST.Root;
    expect([...textsIn(fragment)]).toEqual([]);
  });
});
