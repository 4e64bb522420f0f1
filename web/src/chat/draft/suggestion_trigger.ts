// Finds the text at the caret that opens the suggestions: "/" at the start of an otherwise empty line for prompts and
// commands, "@" at the start of a word for resources. Pure.

export interface Trigger {
  readonly kind: "prompts" | "resources";
  /** What was typed after the sign. */
  readonly query: string;
  /** Range that the chosen suggestion replaces. */
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

/** What a message that begins with "/help" asks the help; null for any other message. */
export function helpQuestion(text: string): string | null {
  const match = /^\s*\/help(?:\s+([\s\S]*))?$/i.exec(text);
  return match ? (match[1] ?? "").trim() : null;
}
