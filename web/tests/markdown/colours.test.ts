import { describe, expect, it } from "vitest";

import { colour, LARGEST } from "../../src/markdown/colours";
import { NAMED } from "../../src/markdown/languages";
import { KINDS } from "../../src/markdown/pieces";

/** The pieces as words: [kind, text]. */
async function coloured(code: string, label: string): Promise<[string, string][]> {
  const pieces = (await colour(code, label))!;
  const told: [string, string][] = [];
  let at = 0;
  for (let index = 0; index < pieces.length; index += 2) {
    told.push([KINDS[pieces[index + 1]!]!, code.slice(at, at + pieces[index]!)]);
    at += pieces[index]!;
  }
  expect(at).toBe(code.length);
  return told;
}

describe("code", () => {
  it("is told in pieces that make it whole", async () => {
    const told = await coloured("def f(x):  # why\n    return 'é' + 1\n", "py");
    expect(told).toContainEqual(["keyword", "def"]);
    expect(told).toContainEqual(["name", "f"]);
    expect(told).toContainEqual(["comment", "# why"]);
    expect(told).toContainEqual(["text", "'é'"]);
    expect(told).toContainEqual(["number", "1"]);
  });

  it("is read in the languages inside it too", async () => {
    const told = await coloured("<p>a</p>\n<script>let x = 'b';</script>\n<style>p { color: red }</style>", "html");
    expect(told).toContainEqual(["keyword", "let"]);
    expect(told).toContainEqual(["text", "'b'"]);
    expect(told).toContainEqual(["mark", "color"]);
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
    expect(await colour("x", "klingon")).toBeNull();
    expect(await colour("x".repeat(LARGEST + 1), "js")).toBeNull();
  });
});
