// What of a growing text can be read out by now: its finished sentences, each once, without the marks of Markdown. A
// pure machine: the text so far in, the next sentences out.

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
  readonly #code: () => string;
  #read = 0;
  /** The marks of the block of code that the reading stands in. */
  #fence = "";

  /** `code` is what is said in place of a block of code. */
  constructor(code: () => string) {
    this.#code = code;
  }

  /** What was finished since the last time; with `ended` also what was not. */
  next(text: string, ended = false): string {
    const said: string[] = [];
    while (this.#read < text.length) {
      const rest = text.slice(this.#read);
      if (this.#fence !== "") {
        const close = new RegExp(`^[ \\t]*${this.#fence}[ \\t]*$`, "m").exec(rest);
        if (!close && !ended) break;
        said.push(this.#code());
        this.#read = close ? this.#read + close.index + close[0].length : text.length;
        this.#fence = "";
        continue;
      }
      const opening = FENCE.exec(rest);
      const prose = opening ? rest.slice(0, opening.index) : rest;
      const whole = opening || ended ? prose : prose.slice(0, lastEnd(prose));
      said.push(plainText(whole));
      this.#read += whole.length;
      if (!opening) break;
      this.#fence = opening[1]!;
      this.#read += opening[0].length;
    }
    return said.filter((part) => part !== "").join(" ");
  }
}
