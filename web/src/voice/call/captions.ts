// Captions of both sides of a call; a reply is split into what was spoken, the current word and what is to come. Pure.
import type { ToolCallState } from "../../wire/chat/rows";
import type { CaptionWord, Ending } from "./protocol";

/** A range of the written text, and when it is spoken. */
interface TimedSpan {
  readonly start: number;
  readonly end: number;
  readonly at: number;
  readonly to: number;
}

/** Written text without Markdown syntax, which is not spoken. */
export function withoutMarkup(text: string): string {
  return text.replace(/[*`]+|(?<!\S)_+|_+(?!\S)|^#{1,6} /gm, "");
}

export interface SplitCaption {
  readonly spoken: string;
  readonly current: string;
  readonly upcoming: string;
}

/** How far ahead, in characters, a spoken word is searched in the written text. */
const SEARCH_WINDOW = 80;

/** Maps spoken words to the written text. Where the server names no range, the next match is used; a word that is not
 * written as it is spoken ("23") gets the range of the word before it. */
export function alignWords(written: string, words: readonly CaptionWord[]): TimedSpan[] {
  const places: TimedSpan[] = [];
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
    const index = word === "" ? -1 : lower.slice(0, from + SEARCH_WINDOW + word.length).indexOf(word, from);
    const previous = places.at(-1);
    if (index >= 0) from = index + word.length;
    places.push(index >= 0 ? { start, end, at: index, to: from } : { start, end, at: previous?.at ?? 0, to: previous?.to ?? 0 });
  }
  return places;
}

/** The server counts code points, JavaScript UTF-16 units. */
function unitsOf(written: string): (characters: number) => number {
  if (!/[\ud800-\udbff]/.test(written)) return (characters) => Math.min(characters, written.length);
  const starts = [0];
  for (const character of written) starts.push(starts.at(-1)! + character.length);
  return (characters) => starts[Math.min(characters, starts.length - 1)]!;
}

/** Splits the text at `heard` milliseconds into the reply. */
export function splitAt(written: string, places: readonly TimedSpan[], heard: number): SplitCaption {
  const current = places.findLast(({ start }) => start <= heard);
  if (!current) return { spoken: "", current: "", upcoming: written };
  const isNow = heard < current.end;
  return {
    spoken: written.slice(0, isNow ? current.at : current.to),
    current: isNow ? written.slice(current.at, current.to) : "",
    upcoming: written.slice(current.to),
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
  /** Text that was not played; final once `ending` is set. */
  readonly unheard: string;
  readonly ending: Ending | null;
}

/** A tool call of a reply. */
export interface ToolLine {
  readonly side: "tool";
  readonly id: string;
  readonly tool: string;
  readonly state: ToolCallState;
  /** Usually empty: a line in a live region needs text to be announced. */
  readonly text: string;
}

export type Line = UserLine | ReplyLine | ToolLine;

const UNFINISHED: readonly ToolCallState[] = ["waiting", "asked", "running"];

/** Most lines kept; the conversation has all of them. */
const MAX_LINES = 40;

/** The lines of a call; immutable. */
export class Captions {
  readonly lines: readonly Line[];

  constructor(lines: readonly Line[] = []) {
    this.lines = lines.slice(-MAX_LINES);
  }

  /** `id` includes the connection, so that lines of an earlier connection are not overwritten. */
  withTranscript(id: string, text: string, final: boolean, understood: boolean): Captions {
    if (text === "" && understood) return new Captions(this.lines.filter((line) => line.id !== id));
    return this.#with({ side: "user", id, text, final, understood });
  }

  withReplyText(id: string, reply: number, text: string, final: boolean): Captions {
    return this.#with({ ...this.#reply(id, reply), text, final });
  }

  withWords(id: string, reply: number, words: readonly CaptionWord[]): Captions {
    const previous = this.#reply(id, reply);
    return this.#with({ ...previous, words: [...previous.words, ...words] });
  }

  withReplyDone(id: string, reply: number, text: string, unheard: string, ending: Ending): Captions {
    // A reply that was replaced before it was audible was never said.
    if (text === "" && (ending === "replaced" || unheard === "")) return new Captions(this.lines.filter((line) => line.id !== id));
    return this.#with({ ...this.#reply(id, reply), text, unheard, ending, final: true });
  }

  withTool(id: string, tool: string, state: ToolCallState, text: string): Captions {
    return this.#with({ side: "tool", id, tool, state, text });
  }

  /** The connection was lost: a reply ends where it was heard, `heard` milliseconds into it. */
  withConnectionLost(heard: (reply: number) => number): Captions {
    const cutLine = (line: Line): Line => {
      if (line.side === "tool") return UNFINISHED.includes(line.state) ? { ...line, state: "skipped" } : line;
      if (line.side === "user" || line.ending !== null) return line;
      const { spoken, current, upcoming } = splitAt(line.text, alignWords(line.text, line.words), heard(line.reply));
      return { ...line, text: spoken + current, unheard: upcoming, final: true, ending: "interrupted" };
    };
    return new Captions(this.lines.map(cutLine));
  }

  #reply(id: string, reply: number): ReplyLine {
    const line = this.lines.find((other) => other.id === id);
    return line?.side === "reply" ? line : { side: "reply", id, reply, text: "", final: false, words: [], unheard: "", ending: null };
  }

  #with(line: Line): Captions {
    const at = this.lines.findIndex(({ id }) => id === line.id);
    return new Captions(at < 0 ? [...this.lines, line] : this.lines.with(at, line));
  }
}
