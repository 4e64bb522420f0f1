// Where maths stands in a Markdown text: between $ and $, $$ and $$, \( and \), \[ and \]. Owns the rules that tell it
// from money and from escaped brackets. Maths never reaches over a blank line and never into code, so that what stands
// before a blank line is settled, however the text goes on. Knows nothing of how formulas are drawn.
import type { MarkedExtension, TokenizerAndRendererExtension, Tokens } from "marked";

export interface Maths {
  /** The text from its first delimiter to behind its last. */
  readonly raw: string;
  /** The formula alone. */
  readonly formula: string;
  /** Whether it stands in lines of its own. */
  readonly display: boolean;
}

interface Pair {
  readonly open: string;
  readonly close: string;
  readonly display: boolean;
}

const PAIRS: readonly Pair[] = [
  { open: "$$", close: "$$", display: true },
  { open: "\\[", close: "\\]", display: true },
  { open: "\\(", close: "\\)", display: false },
];
const LONGEST = 10_000;
const BLANK_LINE = /\n[ \t]*\n/;
const WORD = /[\p{L}\p{N}]/u;
/** Two words beside each other: prose between two prices, not a product of variables. */
const PROSE = /\p{L}{2,}[ ,.;:]+\p{L}{2,}/u;
const INDENT = /^ {0,3}(?=\$\$|\\\[)/;
const REST_OF_LINE = /^[ \t]*(?:\n|$)/;
const CANDIDATE = /\$|\\[([]/g;

/** Index of `close` in `text` from `from` on, or -1: where another begins inside, where code does, or a blank line. */
function closing(text: string, from: number, { open, close }: Pair): number {
  const end = Math.min(text.length, from + LONGEST);
  for (let at = from; at < end; at++) {
    if (text.startsWith(close, at)) return at;
    const character = text[at];
    if (character === "`" || text.startsWith(open, at)) return -1;
    if (character === "\n" && BLANK_LINE.test(text.slice(at, text.indexOf("\n", at + 1) + 1))) return -1;
    if (character === "\\") at++;
  }
  return -1;
}

/** The maths between a pair at the very beginning of a text. */
function between(text: string, pair: Pair): Maths | null {
  if (!text.startsWith(pair.open)) return null;
  const end = closing(text, pair.open.length, pair);
  const formula = text.slice(pair.open.length, end).trim();
  if (end === -1 || formula === "") return null;
  // \[such a thing\](address) is a link whose brackets are escaped by mistake, but no formula.
  if (pair.close === "\\]" && text.startsWith("(", end + 2)) return null;
  return { raw: text.slice(0, end + pair.close.length), formula, display: pair.display };
}

/** What is between single dollars, unless it is money: on one line, with nothing blank inside the dollars, and
 * followed by neither letter nor digit. */
function betweenDollars(text: string): Maths | null {
  if (text[0] !== "$" || !/[^\s$]/.test(text[1] ?? "")) return null;
  for (let at = 1; at < Math.min(text.length, LONGEST); at++) {
    const character = text[at];
    if (character === "\n" || character === "`") return null;
    if (character === "\\") at++;
    if (character !== "$") continue;
    const formula = text.slice(1, at);
    const settled = !/\s/.test(text[at - 1]!) && !WORD.test(text[at + 1] ?? "") && text[at + 1] !== "$";
    const prose = !formula.includes("\\") && PROSE.test(formula);
    return settled && !prose ? { raw: text.slice(0, at + 1), formula, display: false } : null;
  }
  return null;
}

/** The maths that a text begins with. */
export function mathsAt(text: string): Maths | null {
  for (const pair of PAIRS) {
    const found = between(text, pair);
    if (found !== null) return found;
  }
  return betweenDollars(text);
}

/** The maths that a text begins with and that has its lines for itself. */
export function mathsBlockAt(text: string): Maths | null {
  const indent = INDENT.exec(text)?.[0];
  if (indent === undefined) return null;
  const found = mathsAt(text.slice(indent.length));
  if (found === null) return null;
  const rest = REST_OF_LINE.exec(text.slice(indent.length + found.raw.length))?.[0];
  return rest === undefined ? null : { ...found, raw: indent + found.raw + rest };
}

/** Index of the first line of a text, but not its very first, on which a block of maths begins. */
export function nextMathsBlock(text: string): number | undefined {
  for (const { index } of text.matchAll(/\n(?= {0,3}(?:\$\$|\\\[))/g)) {
    if (mathsBlockAt(text.slice(index + 1)) !== null) return index + 1;
  }
  return undefined;
}

/** Index of the next place in a line at which maths may begin. */
export function nextMaths(text: string): number | undefined {
  for (const { index, 0: found } of text.matchAll(CANDIDATE)) {
    const before = text[index - 1] ?? "";
    if (found !== "$") {
      if (before !== "\\") return index;
    } else if (before !== "\\" && before !== "$" && !WORD.test(before)) return index;
  }
  return undefined;
}

/** What closes the formula that a growing text ends in the middle of, put behind it; the text as it is where it ends in
 * none. Not for single dollars: they may be money still. */
export function withMathsClosed(text: string): string {
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "`") {
      const ticks = /^`+/.exec(text.slice(at))![0];
      const end = text.indexOf(ticks, at + ticks.length);
      if (end === -1) return text;
      at = end + ticks.length - 1;
    } else if (character === "$" || character === "\\") {
      const rest = text.slice(at);
      const whole = mathsAt(rest);
      const pair = PAIRS.find(({ open }) => rest.startsWith(open));
      if (whole !== null) at += whole.raw.length - 1;
      else if (pair !== undefined && mathsAt(closedBy(rest, pair)) !== null) return closedBy(text, pair);
      else if (character === "\\") at++;
    }
  }
  return text;
}

/** Half a delimiter at the end is the beginning of the one that is put there. */
function closedBy(text: string, { close }: Pair): string {
  const half = close === "$$" ? /(?<!\\)\$$/ : /(?<!\\)(?:\\\\)*\\$/;
  return (half.test(text) ? text.slice(0, -1) : text) + close;
}

/** The text with each of its formulas given to `change`. */
export function replaceMaths(text: string, change: (raw: string) => string): string {
  let changed = "";
  let rest = text;
  for (let next = nextMaths(rest); next !== undefined; next = nextMaths(rest)) {
    const found = mathsAt(rest.slice(next))?.raw;
    changed += rest.slice(0, next) + (found === undefined ? rest[next]! : change(found));
    rest = rest.slice(next + (found?.length ?? 1));
  }
  return changed + rest;
}

function token(type: string, { raw, formula, display }: Maths): Tokens.Generic {
  return { type, raw, text: formula, display };
}

/** Maths for the lexer. `draw` gives the HTML of a formula; `block` where it is no part of a paragraph. */
export function mathsExtension(draw: (formula: string, display: boolean, block: boolean) => string): MarkedExtension {
  const block: TokenizerAndRendererExtension = {
    name: "mathsBlock",
    level: "block",
    start: nextMathsBlock,
    tokenizer(source) {
      const found = mathsBlockAt(source);
      return found?.display ? token("mathsBlock", found) : undefined;
    },
    renderer: ({ text }) => draw(text, true, true),
  };
  const line: TokenizerAndRendererExtension = {
    name: "maths",
    level: "inline",
    start: nextMaths,
    tokenizer(source) {
      const found = mathsAt(source);
      return found === null ? undefined : token("maths", found);
    },
    renderer: ({ text, display }) => draw(text, display, false),
  };
  // Nothing in a formula is emphasis.
  return { extensions: [block, line], hooks: { emStrongMask: (text) => replaceMaths(text, (raw) => "a".repeat(raw.length)) } };
}
