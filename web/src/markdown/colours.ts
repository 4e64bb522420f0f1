// Code as pieces of colour. Owns which of the many things a grammar tells apart look alike. Runs in the worker, or in a
// test; knows no DOM. highlight.js writes no HTML here: its grammar's findings are gathered as they come.
import hljs from "highlight.js/lib/core";
import type { Emitter } from "highlight.js";

import { GRAMMARS } from "./grammars";
import { type LanguageName, languageNamed, withNeeded } from "./languages";
import { type Kind, KINDS, type Pieces } from "./pieces";

/** Above this many characters code stays plain. */
export const LARGEST = 200_000;

const SCOPES: Readonly<Record<string, Kind>> = {
  ...{ keyword: "keyword", "selector-tag": "keyword", literal: "number", number: "number", symbol: "number", bullet: "number" },
  ...{ built_in: "name", type: "name", title: "name", name: "name", section: "name", "selector-id": "name", "selector-class": "name" },
  ...{ string: "text", regexp: "text", char: "text", link: "text", code: "text", formula: "text", quote: "comment" },
  ...{ comment: "comment", doctag: "comment", meta: "mark", attr: "mark", attribute: "mark", property: "mark", variable: "mark" },
  ...{ "template-variable": "mark", "selector-attr": "mark", "selector-pseudo": "mark", tag: "plain", subst: "plain" },
  ...{ addition: "added", deletion: "removed" },
};

class Gatherer implements Emitter {
  readonly pieces: number[] = [];
  #within: Kind[] = ["plain"];

  startScope(name: string): void {
    this.#within.push(SCOPES[name] ?? SCOPES[name.split(".")[0]!] ?? this.#within.at(-1)!);
  }

  endScope(): void {
    this.#within.pop();
  }

  // The interface has two names for each; highlight.js calls both.
  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    this.#add(text.length, KINDS.indexOf(this.#within.at(-1)!));
  }

  __addSublanguage(inner: Emitter): void {
    const { pieces } = inner as Gatherer;
    for (let at = 0; at < pieces.length; at += 2) this.#add(pieces[at]!, pieces[at + 1]!);
  }

  #add(length: number, kind: number): void {
    if (length === 0) return;
    if (this.pieces.at(-1) === kind) this.pieces[this.pieces.length - 2]! += length;
    else this.pieces.push(length, kind);
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }
}

hljs.configure({ __emitter: Gatherer });

async function learn(name: LanguageName): Promise<void> {
  const unknown = [...withNeeded(name)].filter((each) => !hljs.getLanguage(each));
  const grammars = await Promise.all(unknown.map((each) => GRAMMARS[each]()));
  unknown.forEach((each, index) => hljs.registerLanguage(each, grammars[index]!.default));
}

/** The pieces of `code`; null where its language is none of ours, or it is too long. */
export async function colour(code: string, label: string): Promise<Pieces | null> {
  const name = languageNamed(label);
  if (name === null || code.length > LARGEST) return null;
  await learn(name);
  const { pieces } = hljs.highlight(code, { language: name, ignoreIllegals: true })._emitter as Gatherer;
  // A grammar that stumbles gives up in the middle.
  const told = pieces.reduce((sum, number, index) => (index % 2 === 0 ? sum + number : sum), 0);
  return told === code.length ? pieces : null;
}
