// Coloured code as numbers: what the worker says and the page draws.

/** What a piece may be; the first is plain text. The numbers in `Pieces` are indices here. */
export const KINDS = ["plain", "keyword", "name", "text", "number", "comment", "mark", "added", "removed"] as const;

export type Kind = (typeof KINDS)[number];

/** Lengths and kinds by turns: 3, 1, 5, 0 is three characters of a keyword, then five plain ones. */
export type Pieces = readonly number[];
