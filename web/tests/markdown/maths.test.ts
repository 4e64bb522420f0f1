import { describe, expect, it } from "vitest";

import { mathsAt, mathsBlockAt, nextMaths, nextMathsBlock, replaceMaths, withMathsClosed } from "../../src/markdown/maths";

/** The formulas of a line, as the lexer finds them. */
function formulas(text: string): string[] {
  const found: string[] = [];
  replaceMaths(text, (raw) => (found.push(raw), ""));
  return found;
}

describe("maths in a line", () => {
  it.each([
    ["the sum $a+b$ is", ["$a+b$"]],
    ["\\(x\\) and \\[y\\]", ["\\(x\\)", "\\[y\\]"]],
    ["$$x$$ inside", ["$$x$$"]],
    ["twice $x$, $y$.", ["$x$", "$y$"]],
    ["$\\text{two words}$", ["$\\text{two words}$"]],
    ["\\( a \\\\ b \\)", ["\\( a \\\\ b \\)"]],
    ["$5\\$$", ["$5\\$$"]],
  ])("is found in %j", (text, expected) => {
    expect(formulas(text)).toEqual(expected);
  });

  it.each([
    "$5 and $6",
    "$5-$6 a piece",
    "from $10/day to $20/day",
    "US$5 or A$6",
    "$HOME/$USER",
    "$5 million for one, 10$ for two",
    "escaped \\$5\\$",
    "$ x $",
    "$x\ny$",
    "$ `code$ `",
    "\\\\(not\\\\)",
    "\\[label\\](https://example.org)",
    "$$",
    "\\(\\)",
    "\\(a\n\nb\\)",
  ])("is not seen in %j", (text) => {
    expect(formulas(text)).toEqual([]);
  });

  it("is found with its formula", () => {
    expect(mathsAt("\\( x^2 \\) rest")).toEqual({ raw: "\\( x^2 \\)", formula: "x^2", display: false });
    expect(mathsAt("$$ x $$")).toMatchObject({ formula: "x", display: true });
  });

  it("is looked for where a line may begin it", () => {
    expect(nextMaths("ab $x$")).toBe(3);
    expect(nextMaths("ab5$x")).toBeUndefined();
  });
});

describe("maths in lines of its own", () => {
  it("may hold what elsewhere would be Markdown", () => {
    expect(mathsBlockAt("$$\na\n- b\n$$\nrest")).toEqual({ raw: "$$\na\n- b\n$$\n", formula: "a\n- b", display: true });
  });

  it("ends its line, and reaches over no blank one", () => {
    expect(mathsBlockAt("$$x$$ and more")).toBeNull();
    expect(mathsBlockAt("$$\nx\n\ny\n$$")).toBeNull();
    expect(mathsBlockAt("    $$x$$")).toBeNull();
  });

  it("is looked for at the beginnings of lines", () => {
    expect(nextMathsBlock("a\n$$\nx\n$$")).toBe(2);
    expect(nextMathsBlock("a\n$$\nx")).toBeUndefined();
    expect(nextMathsBlock("a $$x$$")).toBeUndefined();
  });
});

describe("a formula that is being written", () => {
  it.each([
    ["so \\(x", "so \\(x\\)"],
    ["so \\(x\\", "so \\(x\\)"],
    ["$$\nx\n$", "$$\nx\n$$"],
    ["\\[a \\\\", "\\[a \\\\\\]"],
  ])("%j is closed as %j", (text, closed) => {
    expect(withMathsClosed(text)).toBe(closed);
  });

  it.each(["$5", "done \\(x\\)", "`\\(x", "``` \\[ ``` done", "$$", "text"])("%j is left as it is", (text) => {
    expect(withMathsClosed(text)).toBe(text);
  });
});

it("looks at a long text without end marks in a moment's work", () => {
  for (const mark of ["$", "$$ a ", "\\( ", "\\[ x ", "$a"]) expect(formulas(mark.repeat(5000)).length).toBeLessThan(5000);
});
