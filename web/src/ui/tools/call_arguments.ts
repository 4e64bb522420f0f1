// The arguments of a tool call as labelled values, for a person who decides about it. Pure.

export interface CallArgument {
  readonly name: string;
  readonly value: string;
  /** A number, a list or the like rather than text. */
  readonly literal: boolean;
}

/** A shorter list or object stays on one line. */
const ONE_LINE = 60;
/** Longer values are folded. */
const FOLD_CHARACTERS = 320;
const FOLD_LINES = 6;

/** Characters that are invisible or reorder what is read, so that a value could look like another. Line breaks and tabs are shown. */
const DECEPTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

function visible(text: string): string {
  return text.replace(DECEPTIVE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The arguments in their order; null for a text that is no JSON object, such as one still being written. */
export function argumentsOf(text: string): readonly CallArgument[] | null {
  if (text.trim() === "") return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return null;
  return Object.entries(parsed).map(([name, value]) => {
    if (typeof value === "string") return { name: visible(name), value: visible(value), literal: false };
    const line = JSON.stringify(value);
    return { name: visible(name), value: visible(line.length > ONE_LINE ? JSON.stringify(value, null, 2) : line), literal: true };
  });
}

/** The beginning of a long value; null for one that is shown whole. */
export function beginning(value: string): string | null {
  const lines = value.split("\n", FOLD_LINES + 1);
  const start = lines.slice(0, FOLD_LINES).join("\n").slice(0, FOLD_CHARACTERS);
  // Not half of a character.
  return lines.length > FOLD_LINES || value.length > FOLD_CHARACTERS ? `${start.replace(/[\ud800-\udbff]$/, "").trimEnd()} …` : null;
}
