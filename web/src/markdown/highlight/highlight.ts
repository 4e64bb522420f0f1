// Highlights code with highlight.js and maps its many scopes to a few kinds. No DOM and no HTML: a custom emitter
// collects runs of text. Runs in the worker, or in a test.
import hljs from "highlight.js/lib/core";
import type { Emitter } from "highlight.js";

import { GRAMMARS } from "./grammars";
import { type LanguageName, languageNamed, withEmbedded } from "./languages";
import { type HighlightRuns, type Kind, TOKEN_KINDS } from "./runs";

/** Longer code stays plain, in characters. */
export const MAX_LENGTH = 200_000;

const SCOPES: Readonly<Record<string, Kind>> = {
  ...{ keyword: "keyword", "selector-tag": "keyword", literal: "number", number: "number", symbol: "number", bullet: "number" },
  ...{ built_in: "name", type: "name", title: "name", name: "name", section: "name", "selector-id": "name", "selector-class": "name" },
  ...{ string: "text", regexp: "text", char: "text", link: "text", code: "text", formula: "text", quote: "comment" },
  ...{ comment: "comment", doctag: "comment", meta: "mark", attr: "mark", attribute: "mark", property: "mark", variable: "mark" },
  ...{ "template-variable": "mark", "selector-attr": "mark", "selector-pseudo": "mark", tag: "plain", subst: "plain" },
  ...{ addition: "added", deletion: "removed" },
};

class RunEmitter implements Emitter {
  readonly runs: number[] = [];
  #kinds: Kind[] = ["plain"];

  startScope(name: string): void {
    this.#kinds.push(SCOPES[name] ?? SCOPES[name.split(".")[0]!] ?? this.#kinds.at(-1)!);
  }

  endScope(): void {
    this.#kinds.pop();
  }

  // highlight.js calls both names of each method.
  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    this.#add(text.length, TOKEN_KINDS.indexOf(this.#kinds.at(-1)!));
  }

  __addSublanguage(inner: Emitter): void {
    const { runs } = inner as RunEmitter;
    for (let at = 0; at < runs.length; at += 2) this.#add(runs[at]!, runs[at + 1]!);
  }

  #add(length: number, kind: number): void {
    if (length === 0) return;
    if (this.runs.at(-1) === kind) this.runs[this.runs.length - 2]! += length;
    else this.runs.push(length, kind);
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }
}

hljs.configure({ __emitter: RunEmitter });

async function loadGrammars(name: LanguageName): Promise<void> {
  const missing = [...withEmbedded(name)].filter((each) => !hljs.getLanguage(each));
  const grammars = await Promise.all(missing.map((each) => GRAMMARS[each]()));
  missing.forEach((each, index) => hljs.registerLanguage(each, grammars[index]!.default));
}

/** The runs of `code`; null if the language is unknown or the code too long. */
export async function highlight(code: string, label: string): Promise<HighlightRuns | null> {
  const name = languageNamed(label);
  if (name === null || code.length > MAX_LENGTH) return null;
  await loadGrammars(name);
  const { runs } = hljs.highlight(code, { language: name, ignoreIllegals: true })._emitter as RunEmitter;
  // A grammar that throws stops in the middle.
  const length = runs.reduce((sum, number, index) => (index % 2 === 0 ? sum + number : sum), 0);
  return length === code.length ? runs : null;
}
