import { describe, expect, it } from "vitest";

import { languageOf, lex, render, safeAddress } from "../../src/markdown/render";

const html = (source: string) => render(lex(source));

describe("rendering", () => {
  it("shows raw HTML as text, in blocks and in lines", () => {
    expect(html("<script>alert(1)</script>")).not.toContain("<script");
    expect(html("a <img src=x onerror=alert(1)> b")).toContain("&lt;img src=x onerror=alert(1)&gt;");
  });

  it("opens links elsewhere, without a referrer and without an opener", () => {
    expect(html("[a](https://example.org)")).toContain(
      '<a href="https://example.org/" target="_blank" rel="noopener noreferrer">a</a>',
    );
  });

  it.each(["javascript:alert(1)", "data:text/html,x", "/api/session", "vbscript:x", "JaVaScRiPt:alert(1)", "file:///etc/passwd"])(
    "does not link to %s",
    (href) => {
      expect(safeAddress(href)).toBeNull();
      expect(html(`[a](${href})`)).not.toContain("href");
    },
  );

  it("loads no image: it links to it", () => {
    const image = html("![a cat](https://example.org/cat.png)");
    expect(image).not.toContain("<img");
    expect(image).toContain('[<span data-says="image"></span>: a cat]');
  });

  it("cannot be talked out of an attribute", () => {
    expect(html('[a](https://example.org/"onmouseover="alert(1))')).not.toMatch(/"onmouseover/);
    expect(html("- x\n\n  ```a\"><b>\n  c\n  ```")).not.toContain("<b>");
  });

  it("begins its headings below the page's own", () => {
    expect(html("# a")).toContain("<h3>a</h3>");
    expect(html("###### a")).toContain("<h6>a</h6>");
  });

  it("lets a wide table scroll in a box of its own", () => {
    expect(html("| a |\n|---|\n| 1 |")).toMatch(/^<div class="table" data-scrolls="table"><table>/);
  });

  it("gives a task's box a name", () => {
    expect(html("- [x] a")).toContain('data-says="done"');
    expect(html("- [ ] a")).not.toContain("<input");
  });

  it("shows as it is what the lexer stumbles over", () => {
    expect(html("- **\n\t>-\n~ <b>")).toBe("<p>- **\n\t&gt;-\n~ &lt;b&gt;</p>\n");
  });

  it("reads the language from the first word of the info string", () => {
    expect(languageOf('python title="x"')).toBe("python");
    expect(languageOf(undefined)).toBe("");
  });

  it("marks formulas and leaves them as their source", () => {
    expect(html("so $a<b$ is")).toContain('so <span class="maths" data-maths="line">a&lt;b</span> is');
    expect(html("$$\nx\n$$")).toBe('<div class="maths" data-maths="display" data-scrolls="maths">x</div>');
  });

  it("leaves the delimiters of formulas alone in code", () => {
    expect(html("`$x$` and ``\\(y\\)``")).not.toContain("data-maths");
    expect(html("```tex\n$$\nx\n$$\n```")).not.toContain("data-maths");
  });

  it("takes no mark inside a formula for Markdown", () => {
    expect(html("*see $a*b$ here*")).toContain('<em>see <span class="maths" data-maths="line">a*b</span> here</em>');
    expect(html("Then:\n$$\na\n- b\n=\n> c\n$$\nEnd")).toMatch(/^<p>Then:<\/p>\n<div class="maths"[^>]*>a\n- b\n=\n&gt; c<\/div><p>End<\/p>/);
  });
});
