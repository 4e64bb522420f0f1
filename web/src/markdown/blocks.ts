// A growing Markdown text as a list of blocks. Owns which blocks are finished: those are never lexed or rendered
// again, so an update costs what the unfinished tail costs, however long the reply is. Cutting the text elsewhere
// on its way here never changes the blocks it ends with. Knows no DOM.
import type { Token, Tokens } from "marked";

import { withMathsClosed } from "./maths";
import { mend } from "./mend";
import { languageOf, lex, render } from "./render";

/** `open` is what more text may still change: it is drawn often, and plainly. */
export type Block =
  | { readonly kind: "html"; readonly html: string; readonly open?: boolean }
  | { readonly kind: "code"; readonly language: string; readonly code: string; readonly open?: boolean };

// A block is finished when a blank line and this many blocks follow it. One is not enough: in "- a\n\n-" the second
// line lexes as a paragraph, which the next character may make an item of the list before it. And without the
// blank line, what interrupts a paragraph ("1\n*\t") can be taken back by the line after it.
const FOLLOWERS = 2;
const ENDS_BLANK = /\n[ \t]*\n[ \t]*$/;

const BLANK_LINE = /\n[ \t]*\n/g;
const BEGINS_MATHS = /\$\$|\\[[(]/;

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)(\n|$)/;

function carriesContent(token: Token): boolean {
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

/** Index of the first token of a lexed tail that more text may still change. */
function firstUnfinished(tail: readonly Token[]): number {
  let followers = 0;
  for (let index = tail.length - 1; index > 0; index--) {
    if (carriesContent(tail[index]!)) followers++;
    const before = (tail[index - 2]?.raw ?? "") + tail[index - 1]!.raw;
    if (followers >= FOLLOWERS && carriesContent(tail[index]!) && ENDS_BLANK.test(before)) return index;
  }
  return 0;
}

/** Draws blocks one after another, so that no heading stands more than one level below the one before it: models
 * begin at any depth, and a page whose levels jump is hard to walk through by ear. */
class Drawer {
  constructor(private depth = 0) {}

  after(): Drawer {
    return new Drawer(this.depth);
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

  /** The unfinished last block as it may be shown: its language only once the fence's line is whole. */
  open(token: Token): Block[] {
    if (isFence(token)) {
      const settled = FENCE.exec(token.raw)?.[3] === "\n";
      // A line of fence characters may be the closing fence on its way.
      const code = token.text.replace(/(^|\n) {0,3}(`{1,}|~{1,})$/, "");
      return [{ kind: "code", language: settled ? languageOf(token.lang) : "", code: settled ? code : "", open: true }];
    }
    if (token.type === "code") return [{ ...this.block(token), open: true }];
    const mended = lex(mend(token.raw, token.type === "table"));
    return mended.filter(carriesContent).map((part) => ({ ...this.block(part), open: true }));
  }
}

export class Splitter {
  #source = "";
  #offset = 0;
  #finished: Block[] = [];
  #drawer = new Drawer();

  /** The blocks of `text`; unfinished ones are mended for show while it is `growing`. */
  update(text: string, growing: boolean): readonly Block[] {
    const source = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    if (!source.startsWith(this.#source)) this.#restart();
    this.#source = source;
    const settled = this.#advance(lex(source.slice(this.#offset)));
    const tokens = growing ? this.#withFormula(settled) : settled;
    const last = growing ? tokens.pop() : undefined;
    const drawer = this.#drawer.after();
    const whole = tokens.map((token) => drawer.block(token));
    return [...this.#finished, ...whole, ...(last ? drawer.open(last) : [])];
  }

  /** Move what is finished out of the tail; gives the rest of it that carries content. */
  #advance(tail: ReturnType<typeof lex>): Token[] {
    if (Object.keys(tail.links).length > 0) {
      // A link definition reaches back to every block before it. They are rare and stand at the end: from here
      // on the whole text is lexed each time, and unchanged blocks are still not drawn again.
      const whole = this.#offset === 0 ? tail : lex(this.#source);
      this.#restart();
      return whole.filter(carriesContent);
    }
    const keep = firstUnfinished(tail);
    for (const token of tail.slice(0, keep)) {
      this.#offset += token.raw.length;
      if (carriesContent(token)) this.#finished.push(this.#drawer.block(token));
    }
    return tail.slice(keep).filter(carriesContent);
  }

  /** The tail with the formula that it ends in the middle of closed for show: a line of one that begins with a minus
   * would be a list until then. */
  #withFormula(tail: Token[]): Token[] {
    const last = tail.at(-1);
    if (last === undefined || last.type === "code") return tail;
    const source = this.#source.slice(this.#offset);
    if (!BEGINS_MATHS.test(source)) return tail;
    const from = Math.min(lastParagraph(source), source.length - last.raw.length);
    const closed = withMathsClosed(source.slice(from));
    return closed === source.slice(from) ? tail : lex(source.slice(0, from) + closed).filter(carriesContent);
  }

  #restart(): void {
    this.#offset = 0;
    this.#finished = [];
    this.#drawer = new Drawer();
  }
}
