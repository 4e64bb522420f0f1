// What is particular to French: its plurals, its agreement and its spaces.
import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";
import ts from "typescript";

import { french } from "../../src/language/fr";

const folder = new URL("../../src/language/fr/", import.meta.url);

function textsIn(file: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(new URL(file, folder), "utf8"), ts.ScriptTarget.Latest));
  return texts;
}

describe("French", () => {
  it.each(readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts")))("%s breaks no line before or inside its punctuation", (file) => {
    for (const text of textsIn(file)) {
      expect(text, "a no-break space stands before ; : ! ? » % and after «").not.toMatch(/ [;:!?»%]|« /u);
      expect(text, "the apostrophe is ’").not.toMatch(/\p{L}'\p{L}/u);
    }
  });

  it("has the singular for none and for less than two", () => {
    expect([0, 1, 2].map(french.blocks.lines)).toEqual(["0 ligne", "1 ligne", "2 lignes"]);
    expect(["1", "1,9", "2"].map(french.thread.figures.million)).toEqual(["1\u00a0million", "1,9\u00a0million", "2\u00a0millions"]);
  });

  it("counts millions of things, and a few things", () => {
    const { million, billion } = french.thread.figures;
    expect([billion("4"), million("1,5"), "512"].map(french.composer.parameters)).toEqual(["4\u00a0milliards de paramètres", "1,5\u00a0million de paramètres", "512 paramètres"]);
  });

  it("elides before a name that begins with a vowel", () => {
    expect(["Qwen3", "Ollama", "Élan", "Hermes"].map(french.models.loadingName)).toEqual(["Chargement de Qwen3", "Chargement d’Ollama", "Chargement d’Élan", "Chargement de Hermes"]);
  });

  it("begins the name of a voice pack with a capital, though languages have none", () => {
    expect(french.voicePacks.named("anglais et français", "petit")).toBe("Anglais et français, petit");
  });

  it("agrees with one chat and with several", () => {
    const { quoted, chats, deleted, moved } = french.sidebar;
    expect([quoted("12 idées"), chats(1), chats(3)].map(deleted)).toEqual(["«\u00a012 idées\u00a0» supprimé.", "1 chat supprimé.", "3 chats supprimés."]);
    expect(moved(chats(2), "Travail")).toBe("2 chats déplacés vers «\u00a0Travail\u00a0».");
  });
});
