// Splits a growing Markdown text into blocks. Finished blocks are never lexed or rendered again, so an update costs as
// much as the unfinished tail, however long the reply is. The result does not depend on how the text was cut into
// updates. No DOM.
import type { Token, Tokens } from "marked";

import { withMathsClosed } from "./maths";
import { mend } from "./mend";
import { languageOf, lex, render } from "./render";

/** `open`: more text may still change the block; it is drawn often, and without highlighting. */
export type Block =
  | { readonly kind: "html"; readonly html: string; readonly open?: boolean }
  | { readonly kind: "code"; readonly language: string; readonly code: string; readonly open?: boolean };

// A block is finished when a blank line and this many blocks follow it. One is not enough: in "- a\n\n-" the second
// line lexes as a paragraph, which the next character may turn into an item of the list before it. The blank line
// matters because what interrupts a paragraph ("1\n*\t") can be undone by the line after it.
const FOLLOWERS = 2;
const ENDS_BLANK = /\n[ \t]*\n[ \t]*$/;

const BLANK_LINE = /\n[ \t]*\n/g;
const BEGINS_MATHS = /\$\$|\\[[(]/;

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)(\n|$)/;

function hasContent(token: Token): boolean {
  return token.type !== "space" && token.type !== "def";
}

function isFence(token: Token): token is Tokens.Code {
  return token.type === "code" && FENCE.test(token.raw);
}

function lastParagraph(text: string): number {
  let start = 0;
  for (const { index, 0: blank } of text.matchAll(BLANK_LINE)) start = index + blank.length;
  return start;
}

/** Index of the first token of the tail that more text may still change. */
function firstUnfinished(tail: readonly Token[]): number {
  let followers = 0;
  for (let index = tail.length - 1; index > 0; index--) {
    if (hasContent(tail[index]!)) followers++;
    const before = (tail[index - 2]?.raw ?? "") + tail[index - 1]!.raw;
    if (followers >= FOLLOWERS && hasContent(tail[index]!) && ENDS_BLANK.test(before)) return index;
  }
  return 0;
}

/** Renders blocks in order and limits heading levels to one below the previous heading: models start at any depth,
 * and skipped levels make a page hard to navigate with a screen reader. */
class BlockRenderer {
  constructor(private depth = 0) {}

  copy(): BlockRenderer {
    return new BlockRenderer(this.depth);
  }

  block(token: Token): Block {
    if (token.type === "code") {
      const { lang, text } = token as Tokens.Code;
      return { kind: "code", language: languageOf(lang), code: text };
    }
    if (token.type !== "heading") return { kind: "html", html: render([token]) };
    this.depth = Math.min((token as Tokens.Heading).depth, this.depth + 1);
    return { kind: "html", html: render([{ ...token, depth: this.depth } as Tokens.Heading]) };
  }

  /** The unfinished last block as it may be shown; its language only once the fence line is complete. */
  open(token: Token): Block[] {
    if (isFence(token)) {
      const pending = FENCE.exec(token.raw)?.[3] === "\n";
      // A trailing line of fence characters may be the beginning of the closing fence.
      const code = token.text.replace(/(^|\n) {0,3}(`{1,}|~{1,})$/, "");
      return [{ kind: "code", language: pending ? languageOf(token.lang) : "", code: pending ? code : "", open: true }];
    }
    if (token.type === "code") return [{ ...this.block(token), open: true }];
    const parts = lex(mend(token.raw, token.type === "table"));
    return parts.filter(hasContent).map((token) => ({ ...this.block(token), open: true }));
  }
}

export class MarkdownBlocks {
  #source = "";
  #offset = 0;
  #finished: Block[] = [];
  #renderer = new BlockRenderer();

  /** The blocks of `text`; while `growing`, the unfinished one is completed for display. */
  update(text: string, growing: boolean): readonly Block[] {
    const source = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    if (!source.startsWith(this.#source)) this.#restart();
    this.#source = source;
    const pending = this.#advance(lex(source.slice(this.#offset)));
    const tokens = growing ? this.#withFormula(pending) : pending;
    const last = growing ? tokens.pop() : undefined;
    const renderer = this.#renderer.copy();
    const complete = tokens.map((token) => renderer.block(token));
    return [...this.#finished, ...complete, ...(last ? renderer.open(last) : [])];
  }

  /** Moves finished blocks out of the tail and returns the remaining tokens with content. */
  #advance(tail: ReturnType<typeof lex>): Token[] {
    if (Object.keys(tail.links).length > 0) {
      // A link definition affects every block before it. Definitions are rare and come at the end: from here on the
      // whole text is lexed on each update, while unchanged blocks are still not redrawn.
      const complete = this.#offset === 0 ? tail : lex(this.#source);
      this.#restart();
      return complete.filter(hasContent);
    }
    const finishedCount = firstUnfinished(tail);
    for (const token of tail.slice(0, finishedCount)) {
      this.#offset += token.raw.length;
      if (hasContent(token)) this.#finished.push(this.#renderer.block(token));
    }
    return tail.slice(finishedCount).filter(hasContent);
  }

  /** Closes a formula at the end of the tail for display: a formula line that begins with a minus would be a list
   * otherwise. */
  #withFormula(tail: Token[]): Token[] {
    const last = tail.at(-1);
    if (last === undefined || last.type === "code") return tail;
    const source = this.#source.slice(this.#offset);
    if (!BEGINS_MATHS.test(source)) return tail;
    const from = Math.min(lastParagraph(source), source.length - last.raw.length);
    const closed = withMathsClosed(source.slice(from));
    return closed === source.slice(from) ? tail : lex(source.slice(0, from) + closed).filter(hasContent);
  }

  #restart(): void {
    this.#offset = 0;
    this.#finished = [];
    this.#renderer = new BlockRenderer();
  }
}
