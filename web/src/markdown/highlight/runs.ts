// Highlighted code as numbers, passed from the worker to the page.

/** Kinds of a run; the first is plain text. `HighlightRuns` holds indices into this list. */
export const TOKEN_KINDS = ["plain", "keyword", "name", "text", "number", "comment", "mark", "added", "removed"] as const;

export type Kind = (typeof TOKEN_KINDS)[number];

/** Alternating lengths and kinds: 3, 1, 5, 0 is three characters of a keyword, then five plain ones. */
export type HighlightRuns = readonly number[];
