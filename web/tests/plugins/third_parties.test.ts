import { describe, expect, it } from "vitest";

import { oneFontFormat, packagesBelow } from "../../plugins/third_parties";

const names = (folders: Iterable<string>) => [...folders].map((folder) => folder.split("node_modules/").at(-1));

describe("what others made", () => {
  it("is listed with all it needs, each version once", () => {
    const found = names(packagesBelow("mermaid"));
    expect(found).toEqual(expect.arrayContaining(["mermaid", "d3", "d3-shape", "dompurify"]));
    expect(found.filter((name) => name?.startsWith("@types/"))).toEqual([]);
    expect([...packagesBelow("highlight.js")]).toHaveLength(1);
  });

  it("is nothing where it is not installed", () => {
    expect(packagesBelow("no-such-package-anywhere").size).toBe(0);
  });

  it("brings the fonts of formulas in one format", () => {
    const { transform } = oneFontFormat();
    const css = '@font-face{src:url(a.woff2) format("woff2"),url(a.woff) format("woff"),url(a.ttf) format("truetype")}';
    const turned = (transform as unknown as (code: string, id: string) => { code: string } | null)(css, "/x/katex/dist/katex.min.css");
    expect(turned?.code).toBe('@font-face{src:url(a.woff2) format("woff2")}');
    expect((transform as unknown as (code: string, id: string) => unknown)(css, "/x/other.css")).toBeNull();
  });
});
