// Extracts finished sentences from a growing text, each once and without Markdown syntax. Pure.

const FENCE = /^[ \t]*(`{3,}|~{3,})[^\n`]*$/m;
const END = /(?:[.!?…][)\]"'”’»*_`]*(?=\s))|(?:[。！？]["”’」』）]*)|\n/g;

export function plainText(text: string): string {
  return text
    .replace(/[*_`#>|~]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function lastEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(END)) end = match.index + match[0].length;
  return end;
}

export class Sentences {
  readonly #codePhrase: () => string;
  #read = 0;
  /** The opening fence of the code block being read; empty outside. */
  #fence = "";

  /** `code` returns the phrase that stands for a code block. */
  constructor(code: () => string) {
    this.#codePhrase = code;
  }

  /** What was finished since the last call; with `complete`, also the rest. */
  next(text: string, complete = false): string {
    const parts: string[] = [];
    while (this.#read < text.length) {
      const rest = text.slice(this.#read);
      if (this.#fence !== "") {
        const close = new RegExp(`^[ \\t]*${this.#fence}[ \\t]*$`, "m").exec(rest);
        if (!close && !complete) break;
        parts.push(this.#codePhrase());
        this.#read = close ? this.#read + close.index + close[0].length : text.length;
        this.#fence = "";
        continue;
      }
      const opening = FENCE.exec(rest);
      const prose = opening ? rest.slice(0, opening.index) : rest;
      const chunk = opening || complete ? prose : prose.slice(0, lastEnd(prose));
      parts.push(plainText(chunk));
      this.#read += chunk.length;
      if (!opening) break;
      this.#fence = opening[1]!;
      this.#read += opening[0].length;
    }
    return parts.filter((part) => part !== "").join(" ");
  }
}
