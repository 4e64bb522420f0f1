// What is being typed that asks for a list: "/" at the beginning of an otherwise empty line for prompts and commands,
// "@" at the beginning of a word for resources. Pure: a text and where the caret stands in, a trigger out.

export interface Trigger {
  readonly kind: "prompts" | "resources";
  /** What was typed after the sign. */
  readonly query: string;
  /** The piece of the text that a choice takes the place of. */
  readonly start: number;
  readonly end: number;
}

const LONGEST = 64;

export function triggerOf(text: string, caret: number): Trigger | null {
  const before = text.slice(Math.max(0, caret - LONGEST - 2), caret);
  const slash = /(?:^|\n)\/([^\s/]*)$/.exec(before);
  if (slash && /^(?:\n|$)/.test(text.slice(caret, caret + 1)) && beginsLine(text, caret - slash[1]!.length - 1)) {
    return { kind: "prompts", query: slash[1]!, start: caret - slash[1]!.length - 1, end: caret };
  }
  const at = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (at && !/\S/.test(text.slice(caret, caret + 1)) && beginsWord(text, caret - at[1]!.length - 1)) {
    return { kind: "resources", query: at[1]!, start: caret - at[1]!.length - 1, end: caret };
  }
  return null;
}

function beginsLine(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === "\n";
}

function beginsWord(text: string, at: number): boolean {
  return at === 0 || /\s/.test(text[at - 1]!);
}
