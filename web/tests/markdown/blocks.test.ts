import { beforeAll, describe, expect, it } from "vitest";

import { type Block, MarkdownBlocks } from "../../src/markdown/blocks";
import { loadRemend } from "../../src/markdown/mend";
import { lex } from "../../src/markdown/render";

beforeAll(loadRemend);

const DOCUMENT = `# Title

A paragraph with **bold**, *italic*, \`code\` and a [link](https://example.org/a_b).
Second line.

- one
- two
  1. inner
  2. inner

     more of two

-  after a blank

> quoted
> lines

| a | b |
|---|--:|
| 1 | 2 |
| 3 | **4** |

\`\`\`python title="x"
def f():
    return "**not bold**"

- not a list
\`\`\`

    indented

    code

Setext
------

<b>raw</b> html & more

The sum $a_1 + b$ costs $5 and $6, so:
$$
x
- y
=
z
$$
and \\[ a \\] or \\(b\\).

1. a step
   \\[
   q
   \\]

***

Last line.`;

const PIECES = [
  "- a", "- ", "-", "1. b", "1", "\n", "\n\n", "    code", "  ", " ", "para", "> q", ">", "```", "```js\n", "~~~", "|", "| a | b |",
  "\n|---|---|\n", "---", "===", "# h", "**", "*", "_", "`", "<div>", "</div>", "<!-- c", "-->", "[x]: https://a.b\n",
  "[x]", "[y](https://c.d)", "![i](https://e.f)", "\t", "\r\n", "\\", "&amp;", "~~", "* * *", "+ x", "- [ ] t",
  "$", "$$", "$$\n", "\n$$", "\\[", "\\]", "\n\\]", "\\(", "\\)", "$x$", "$$\nx\n$$", "\\[\n- x\n=\n\\]", "\\(a*b\\)", "=",
];

/** A small deterministic generator (mulberry32): the same seeds every run. */
function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function whole(text: string): readonly Block[] {
  return new MarkdownBlocks().update(text, false);
}

function grown(text: string, cuts: Iterable<number>): readonly Block[] {
  const splitter = new MarkdownBlocks();
  for (const cut of cuts) splitter.update(text.slice(0, cut), true);
  return splitter.update(text, false);
}

function* everyCut(text: string): Generator<number> {
  for (let cut = 1; cut <= text.length; cut++) yield cut;
}

describe("splitting a growing text", () => {
  it("ends with the same blocks when the text comes one character at a time", () => {
    expect(grown(DOCUMENT, everyCut(DOCUMENT))).toEqual(whole(DOCUMENT));
  });

  it("ends with the same blocks wherever random texts are cut", { timeout: 60_000 }, () => {
    for (let seed = 0; seed < 1500; seed++) {
      const next = random(seed);
      let text = "";
      for (let count = 2 + next() * 14; count > 0; count--) {
        text += PIECES[Math.floor(next() * PIECES.length)]! + (next() < 0.4 ? "\n" : next() < 0.3 ? "\n\n" : "");
      }
      const reference = whole(text);
      expect(grown(text, everyCut(text)), `seed ${seed}: ${JSON.stringify(text)}`).toEqual(reference);
    }
  });

  it("keeps the source whole in the tokens' raw texts, which offsets rely on", () => {
    expect(lex(DOCUMENT).map((token) => token.raw).join("")).toBe(DOCUMENT);
  });

  it("gives finished blocks back as the very same objects", () => {
    const splitter = new MarkdownBlocks();
    const before = splitter.update("one\n\ntwo\n\nthree\n\nfour", true);
    const after = splitter.update("one\n\ntwo\n\nthree\n\nfour and more\n\nfive", true);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after).toHaveLength(5);
  });

  it("starts over when the text is another one", () => {
    const splitter = new MarkdownBlocks();
    splitter.update("one\n\ntwo\n\nthree\n\nfour", true);
    expect(splitter.update("other", false)).toEqual(whole("other"));
  });

  it("resolves a link definition that comes after its use", () => {
    const text = "see [x]\n\na\n\nb\n\nc\n\n[x]: https://example.org/";
    const [first] = grown(text, everyCut(text));
    expect(first).toMatchObject({ html: expect.stringContaining('href="https://example.org/"') });
  });

  it("never lets a heading stand more than one level below the one before", () => {
    const text = "### a\n\nb\n\nc\n\n###### d\n\n# e\n\nf\n\n## g";
    const levels = grown(text, everyCut(text)).flatMap((block) => (block.kind === "html" ? (/<h(\d)/.exec(block.html)?.[1] ?? []) : []));
    expect(levels).toEqual(["3", "4", "3", "4"]);
  });

  it("renders a block of a long reply no more than a handful of times", () => {
    const splitter = new MarkdownBlocks();
    const text = Array.from({ length: 200 }, (_, index) => `Paragraph ${index}.`).join("\n\n");
    let fresh = 0;
    let previous: readonly Block[] = [];
    for (let cut = 1; cut <= text.length; cut++) {
      const blocks = splitter.update(text.slice(0, cut), true);
      fresh += blocks.filter((block, index) => block !== previous[index]).length;
      previous = blocks;
    }
    expect(fresh).toBeLessThan(text.length * 3.5);
  });
});

describe("showing an unfinished text", () => {
  const shown = (text: string) => JSON.stringify(new MarkdownBlocks().update(text, true));

  it("never flashes Markdown's own marks", () => {
    const text = "Some **bold words** and *soft ones*, ~~gone~~ and `code`.\n\n- **item** one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd.";
    for (const cut of everyCut(text)) {
      const html = shown(text.slice(0, cut));
      expect(html, text.slice(0, cut)).not.toMatch(/\*|~|`|\||<p>-/);
    }
  });

  it("holds the head of a table back until it is one", () => {
    expect(shown("Look:\n\n| a | b |\n|--")).not.toContain("a | b");
    expect(shown("Look:\n\n| a | b |\n|---|---|")).toContain("<th>a</th>");
  });

  it("releases a line that looked like a table header when the next one is not a delimiter", () => {
    expect(shown("| not a table\nbut text")).toContain("| not a table");
  });

  it("shows an open fence as code at once, with its language once the line is whole", () => {
    expect(new MarkdownBlocks().update("```py", true)).toEqual([{ kind: "code", language: "", code: "", open: true }]);
    expect(new MarkdownBlocks().update("```python\nx = 1\n``", true)).toEqual([
      { kind: "code", language: "python", code: "x = 1", open: true },
    ]);
  });

  it("says of a block whether more text may change it", () => {
    const open = (text: string, growing: boolean) => new MarkdownBlocks().update(text, growing).map((block) => block.open ?? false);
    expect(open("one\n\ntwo", true)).toEqual([false, true]);
    expect(open("one\n\ntwo", false)).toEqual([false, false]);
  });

  it("shows a formula as one from its first delimiter on, and never its marks as Markdown", () => {
    const text = "So:\n\n$$\na\n- b\n- c_1\n=\nd\n$$\n\nand \\(x_1 * y\\) follow.";
    for (const cut of everyCut(text)) {
      expect(shown(text.slice(0, cut)), text.slice(0, cut)).not.toMatch(/<li>|<h\d|<em>|\\\\\(/);
    }
    expect(shown("So:\n\n$$\na\n- b")).toContain("data-maths");
    expect(shown("with \\(x")).toContain("data-maths");
  });

  it("leaves a price alone", () => {
    expect(shown("It costs $5")).toContain("<p>It costs $5</p>");
  });

  it("does not turn a paragraph into a heading while a list is beginning", () => {
    expect(shown("Things:\n-")).toContain("<p>Things:</p>");
  });
});
