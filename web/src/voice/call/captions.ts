// What was said on both sides of a call, as it is shown while it is said: of a reply the part that was spoken, the word that
// is being spoken and what is to come. Pure.
import type { ToolCallState } from "../../wire/rows";
import type { CaptionWord, Ending } from "./protocol";

/** A part of the written text, and when it sounds. */
interface Timed {
  readonly start: number;
  readonly end: number;
  readonly at: number;
  readonly to: number;
}

/** Written text without the marks of Markdown: they are not spoken. */
export function unmarked(text: string): string {
  return text.replace(/[*`]+|(?<!\S)_+|_+(?!\S)|^#{1,6} /gm, "");
}

export interface Split {
  readonly said: string;
  readonly now: string;
  readonly coming: string;
}

/** How far ahead a spoken word is looked for in what is written. */
const AHEAD = 80;

/** Where each word stands in the written text. Where the server does not say it, the next place with its letters; a word
 * that is not written as it is spoken belongs to the place where the one before it was. */
export function timed(written: string, words: readonly CaptionWord[]): Timed[] {
  const places: Timed[] = [];
  const lower = written.toLowerCase();
  const units = unitsOf(written);
  let from = 0;
  for (const { text, start, end, at, to } of words) {
    if (at !== undefined && to !== undefined) {
      places.push({ start, end, at: units(at), to: units(to) });
      from = units(to);
      continue;
    }
    const word = text.trim().toLowerCase();
    const found = word === "" ? -1 : lower.slice(0, from + AHEAD + word.length).indexOf(word, from);
    const before = places.at(-1);
    if (found >= 0) from = found + word.length;
    places.push(found >= 0 ? { start, end, at: found, to: from } : { start, end, at: before?.at ?? 0, to: before?.to ?? 0 });
  }
  return places;
}

/** Python counts whole characters, JavaScript halves of some. */
function unitsOf(written: string): (characters: number) => number {
  if (!/[\ud800-\udbff]/.test(written)) return (characters) => Math.min(characters, written.length);
  const starts = [0];
  for (const character of written) starts.push(starts.at(-1)! + character.length);
  return (characters) => starts[Math.min(characters, starts.length - 1)]!;
}

/** The text as it is to be shown `heard` milliseconds into the reply. */
export function splitAt(written: string, places: readonly Timed[], heard: number): Split {
  const current = places.findLast(({ start }) => start <= heard);
  if (!current) return { said: "", now: "", coming: written };
  const isNow = heard < current.end;
  return {
    said: written.slice(0, isNow ? current.at : current.to),
    now: isNow ? written.slice(current.at, current.to) : "",
    coming: written.slice(current.to),
  };
}

export interface UserLine {
  readonly side: "user";
  readonly id: string;
  readonly text: string;
  readonly final: boolean;
  readonly understood: boolean;
}

export interface ReplyLine {
  readonly side: "reply";
  readonly id: string;
  readonly reply: number;
  readonly text: string;
  readonly final: boolean;
  readonly words: readonly CaptionWord[];
  /** What had been written and was not heard; with `ending`, once it is over. */
  readonly unheard: string;
  readonly ending: Ending | null;
}

/** A tool the server ran for a reply. */
export interface ToolLine {
  readonly side: "tool";
  readonly id: string;
  readonly tool: string;
  readonly state: ToolCallState;
  /** Empty by itself: a line of the log that is said aloud has one. */
  readonly text: string;
}

export type Line = UserLine | ReplyLine | ToolLine;

const GOING: readonly ToolCallState[] = ["waiting", "asked", "running"];

/** Lines that are kept: the conversation has the rest. */
const MOST = 40;

/** The lines of a call. Each change gives new ones. */
export class Captions {
  readonly lines: readonly Line[];

  constructor(lines: readonly Line[] = []) {
    this.lines = lines.slice(-MOST);
  }

  /** `line` distinguishes the lines of one connection from those of the one before it. */
  heard(id: string, text: string, final: boolean, understood: boolean): Captions {
    if (text === "" && understood) return new Captions(this.lines.filter((line) => line.id !== id));
    return this.#with({ side: "user", id, text, final, understood });
  }

  written(id: string, reply: number, text: string, final: boolean): Captions {
    return this.#with({ ...this.#reply(id, reply), text, final });
  }

  timed(id: string, reply: number, words: readonly CaptionWord[]): Captions {
    const before = this.#reply(id, reply);
    return this.#with({ ...before, words: [...before.words, ...words] });
  }

  over(id: string, reply: number, text: string, unheard: string, ending: Ending): Captions {
    // A reply that another one took the place of before it was heard was never said.
    if (text === "" && (ending === "replaced" || unheard === "")) return new Captions(this.lines.filter((line) => line.id !== id));
    return this.#with({ ...this.#reply(id, reply), text, unheard, ending, final: true });
  }

  used(id: string, tool: string, state: ToolCallState, text: string): Captions {
    return this.#with({ side: "tool", id, tool, state, text });
  }

  /** The line was lost: what was being said ends where it was heard, `heard` milliseconds into it. */
  cut(heard: (reply: number) => number): Captions {
    const ended = (line: Line): Line => {
      if (line.side === "tool") return GOING.includes(line.state) ? { ...line, state: "skipped" } : line;
      if (line.side === "user" || line.ending !== null) return line;
      const { said, now, coming } = splitAt(line.text, timed(line.text, line.words), heard(line.reply));
      return { ...line, text: said + now, unheard: coming, final: true, ending: "interrupted" };
    };
    return new Captions(this.lines.map(ended));
  }

  #reply(id: string, reply: number): ReplyLine {
    const known = this.lines.find((line) => line.id === id);
    return known?.side === "reply" ? known : { side: "reply", id, reply, text: "", final: false, words: [], unheard: "", ending: null };
  }

  #with(line: Line): Captions {
    const at = this.lines.findIndex(({ id }) => id === line.id);
    return new Captions(at < 0 ? [...this.lines, line] : this.lines.with(at, line));
  }
}
