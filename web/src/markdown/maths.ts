// Finds maths in Markdown: between $ and $, $$ and $$, \( and \), \[ and \]. Owns the rules that distinguish it from
// money and from escaped brackets. Maths never spans a blank line or code, so text before a blank line is final however
// the text continues.
import type { MarkedExtension, TokenizerAndRendererExtension, Tokens } from "marked";

export interface Maths {
  /** The source including delimiters. */
  readonly raw: string;
  /** The formula without delimiters. */
  readonly formula: string;
  /** Display style, on lines of its own. */
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
const MAX_LENGTH = 10_000;
const BLANK_LINE = /\n[ \t]*\n/;
const WORD = /[\p{L}\p{N}]/u;
/** Two words in a row: prose between two prices, not a product of variables. */
const PROSE = /\p{L}{2,}[ ,.;:]+\p{L}{2,}/u;
const INDENT = /^ {0,3}(?=\$\$|\\\[)/;
const REST_OF_LINE = /^[ \t]*(?:\n|$)/;
const CANDIDATE = /\$|\\[([]/g;

/** Index of `close` in `text` from `from` on; -1 if another opening delimiter, code or a blank line comes first. */
function closing(text: string, from: number, { open, close }: Pair): number {
  const end = Math.min(text.length, from + MAX_LENGTH);
  for (let at = from; at < end; at++) {
    if (text.startsWith(close, at)) return at;
    const character = text[at];
    if (character === "`" || text.startsWith(open, at)) return -1;
    if (character === "\n" && BLANK_LINE.test(text.slice(at, text.indexOf("\n", at + 1) + 1))) return -1;
    if (character === "\\") at++;
  }
  return -1;
}

/** The maths at the very start of a text, delimited by `pair`. */
function between(text: string, pair: Pair): Maths | null {
  if (!text.startsWith(pair.open)) return null;
  const end = closing(text, pair.open.length, pair);
  const formula = text.slice(pair.open.length, end).trim();
  if (end === -1 || formula === "") return null;
  // \[text\](address) is a link with brackets escaped by mistake, not a formula.
  if (pair.close === "\\]" && text.startsWith("(", end + 2)) return null;
  return { raw: text.slice(0, end + pair.close.length), formula, display: pair.display };
}

/** Maths between single dollars, unless it looks like money: on one line, no space just inside the dollars, and not
 * followed by a letter or digit. */
function betweenDollars(text: string): Maths | null {
  if (text[0] !== "$" || !/[^\s$]/.test(text[1] ?? "")) return null;
  for (let at = 1; at < Math.min(text.length, MAX_LENGTH); at++) {
    const character = text[at];
    if (character === "\n" || character === "`") return null;
    if (character === "\\") at++;
    if (character !== "$") continue;
    const formula = text.slice(1, at);
    const isDelimited = !/\s/.test(text[at - 1]!) && !WORD.test(text[at + 1] ?? "") && text[at + 1] !== "$";
    const isProse = !formula.includes("\\") && PROSE.test(formula);
    return isDelimited && !isProse ? { raw: text.slice(0, at + 1), formula, display: false } : null;
  }
  return null;
}

/** The maths at the start of a text. */
export function mathsAt(text: string): Maths | null {
  for (const pair of PAIRS) {
    const match = between(text, pair);
    if (match !== null) return match;
  }
  return betweenDollars(text);
}

/** The maths at the start of a text, if it fills its lines. */
export function mathsBlockAt(text: string): Maths | null {
  const indent = INDENT.exec(text)?.[0];
  if (indent === undefined) return null;
  const match = mathsAt(text.slice(indent.length));
  if (match === null) return null;
  const rest = REST_OF_LINE.exec(text.slice(indent.length + match.raw.length))?.[0];
  return rest === undefined ? null : { ...match, raw: indent + match.raw + rest };
}

/** Index of the first line after the first on which a block of maths begins. */
export function nextMathsBlock(text: string): number | undefined {
  for (const { index } of text.matchAll(/\n(?= {0,3}(?:\$\$|\\\[))/g)) {
    if (mathsBlockAt(text.slice(index + 1)) !== null) return index + 1;
  }
  return undefined;
}

/** Index of the next position at which inline maths may begin. */
export function nextMaths(text: string): number | undefined {
  for (const { index, 0: match } of text.matchAll(CANDIDATE)) {
    const before = text[index - 1] ?? "";
    if (match !== "$") {
      if (before !== "\\") return index;
    } else if (before !== "\\" && before !== "$" && !WORD.test(before)) return index;
  }
  return undefined;
}

/** Appends the closing delimiter if the text ends inside a formula. Not for single dollars, which may turn out to be
 * money. */
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
      else if (pair !== undefined && mathsAt(withClosing(rest, pair)) !== null) return withClosing(text, pair);
      else if (character === "\\") at++;
    }
  }
  return text;
}

/** Half a delimiter at the end is the beginning of the closing one. */
function withClosing(text: string, { close }: Pair): string {
  const half = close === "$$" ? /(?<!\\)\$$/ : /(?<!\\)(?:\\\\)*\\$/;
  return (half.test(text) ? text.slice(0, -1) : text) + close;
}

/** Replaces each formula with what `change` returns. */
export function replaceMaths(text: string, change: (raw: string) => string): string {
  let result = "";
  let rest = text;
  for (let next = nextMaths(rest); next !== undefined; next = nextMaths(rest)) {
    const match = mathsAt(rest.slice(next))?.raw;
    result += rest.slice(0, next) + (match === undefined ? rest[next]! : change(match));
    rest = rest.slice(next + (match?.length ?? 1));
  }
  return result + rest;
}

function token(type: string, { raw, formula, display }: Maths): Tokens.Generic {
  return { type, raw, text: formula, display };
}

/** A marked extension for maths. `draw` returns a formula's HTML; `block` is true outside a paragraph. */
export function mathsExtension(draw: (formula: string, display: boolean, block: boolean) => string): MarkedExtension {
  const block: TokenizerAndRendererExtension = {
    name: "mathsBlock",
    level: "block",
    start: nextMathsBlock,
    tokenizer(source) {
      const match = mathsBlockAt(source);
      return match?.display ? token("mathsBlock", match) : undefined;
    },
    renderer: ({ text }) => draw(text, true, true),
  };
  const line: TokenizerAndRendererExtension = {
    name: "maths",
    level: "inline",
    start: nextMaths,
    tokenizer(source) {
      const match = mathsAt(source);
      return match === null ? undefined : token("maths", match);
    },
    renderer: ({ text, display }) => draw(text, display, false),
  };
  // Characters in a formula are not emphasis.
  return { extensions: [block, line], hooks: { emStrongMask: (text) => replaceMaths(text, (raw) => "a".repeat(raw.length)) } };
}
