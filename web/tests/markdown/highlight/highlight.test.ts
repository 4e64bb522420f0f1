import { describe, expect, it } from "vitest";

import { highlight, MAX_LENGTH } from "../../../src/markdown/highlight/highlight";
import { NAMED } from "../../../src/markdown/highlight/languages";
import { TOKEN_KINDS } from "../../../src/markdown/highlight/runs";

/** The runs as [kind, text]. */
async function coloured(code: string, label: string): Promise<[string, string][]> {
  const runs = (await highlight(code, label))!;
  const length: [string, string][] = [];
  let at = 0;
  for (let index = 0; index < runs.length; index += 2) {
    length.push([TOKEN_KINDS[runs[index + 1]!]!, code.slice(at, at + runs[index]!)]);
    at += runs[index]!;
  }
  expect(at).toBe(code.length);
  return length;
}

describe("code", () => {
  it("is told in pieces that make it whole", async () => {
    const length = await coloured("def f(x):  # why\n    return 'é' + 1\n", "py");
    expect(length).toContainEqual(["keyword", "def"]);
    expect(length).toContainEqual(["name", "f"]);
    expect(length).toContainEqual(["comment", "# why"]);
    expect(length).toContainEqual(["text", "'é'"]);
    expect(length).toContainEqual(["number", "1"]);
  });

  it("is read in the languages inside it too", async () => {
    const length = await coloured("<p>a</p>\n<script>let x = 'b';</script>\n<style>p { color: red }</style>", "html");
    expect(length).toContainEqual(["keyword", "let"]);
    expect(length).toContainEqual(["text", "'b'"]);
    expect(length).toContainEqual(["mark", "color"]);
  });

  it("has no two pieces of one colour beside each other", async () => {
    const kinds = (await coloured("const a = b + c - d;\n+ e", "js")).map(([kind]) => kind);
    expect(kinds.some((kind, index) => kind === kinds[index + 1])).toBe(false);
  });

  it("is coloured as a change where it is one", async () => {
    expect(await coloured("-old\n+new\n", "diff")).toEqual([["removed", "-old"], ["plain", "\n"], ["added", "+new"], ["plain", "\n"]]);
  });

  it.each(NAMED)("may be %s", async (name) => {
    await coloured("if (a) { return \"b\" } // c\n<d e='f'>& $g `h` #i\n", name);
  });

  it("stays plain where the language is none of ours, or it is too long", async () => {
    expect(await highlight("x", "klingon")).toBeNull();
    expect(await highlight("x".repeat(MAX_LENGTH + 1), "js")).toBeNull();
  });
});
