import { describe, expect, it } from "vitest";

import { highlight, MAX_LENGTH } from "../../../src/markdown/highlight/highlight";
import { NAMED } from "../../../src/markdown/highlight/languages";
import { TOKEN_KINDS } from "../../../src/markdown/highlight/runs";

/** The runs as [kind, text]. */
async function coloured(code: string, label: string): Promise<[string, string][]> {
  const runs = (await highlight(code, label))!;
  const tokens: [string, string][] = [];
  let at = 0;
  for (let index = 0; index < runs.length; index += 2) {
    tokens.push([TOKEN_KINDS[runs[index + 1]!]!, code.slice(at, at + runs[index]!)]);
    at += runs[index]!;
  }
  expect(at).toBe(code.length);
  return tokens;
}

describe("code", () => {
  it("is split into runs that cover all of it", async () => {
    const tokens = await coloured("def f(x):  # why\n    return 'é' + 1\n", "py");
    expect(tokens).toContainEqual(["keyword", "def"]);
    expect(tokens).toContainEqual(["name", "f"]);
    expect(tokens).toContainEqual(["comment", "# why"]);
    expect(tokens).toContainEqual(["text", "'é'"]);
    expect(tokens).toContainEqual(["number", "1"]);
  });

  it("is read in the languages inside it too", async () => {
    const tokens = await coloured("<p>a</p>\n<script>let x = 'b';</script>\n<style>p { color: red }</style>", "html");
    expect(tokens).toContainEqual(["keyword", "let"]);
    expect(tokens).toContainEqual(["text", "'b'"]);
    expect(tokens).toContainEqual(["mark", "color"]);
  });

  it("has no two pieces of one colour beside each other", async () => {
    const kinds = (await coloured("const a = b + c - d;\n+ e", "js")).map(([kind]) => kind);
    expect(kinds.some((kind, index) => kind === kinds[index + 1])).toBe(false);
  });

  it("is coloured as a change where it is one", async () => {
    expect(await coloured("-old\n+new\n", "diff")).toEqual([["removed", "-old"], ["plain", "\n"], ["added", "+new"], ["plain", "\n"]]);
  });

  it.each(NAMED)("in %s keeps its text", async (name) => {
    const code = "if (a) { return \"b\" } // c\n<d e='f'>& $g `h` #i\n";
    const runs = await coloured(code, name);
    expect(runs.map(([, text]) => text).join("")).toBe(code);
  });

  it("stays plain if the language is unknown or it is too long", async () => {
    expect(await highlight("x", "klingon")).toBeNull();
    expect(await highlight("x".repeat(MAX_LENGTH + 1), "js")).toBeNull();
  });
});
