import { describe, expect, it } from "vitest";

import { languageOf, lex, render, safeAddress, safePicture } from "../../src/markdown/render";

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

  it("loads no image from the web: it links to it, with a button that shows it", () => {
    const image = html("![a cat](https://example.org/cat.png)");
    expect(image).not.toContain("<img");
    expect(image).toContain('<span class="web-picture"><a href="https://example.org/cat.png"');
    expect(image).toContain('>a cat</a> <button type="button" data-show data-says="show"></button></span>');
    expect(html("![](https://example.org/cat.png)")).toContain(">example.org</a>");
  });

  it("draws an image that is in the text or a file of this server", () => {
    const file = `api/blobs/${"0af1".repeat(16)}`;
    expect(html('![a "cat"](data:image/png;base64,iVBORw0KGgo=)')).toContain('<img src="data:image/png;base64,iVBORw0KGgo=" alt="a &quot;cat&quot;">');
    for (const address of [file, `/${file}`, `./${file}`]) expect(html(`![](${address})`)).toContain(`<img src="${file}" alt="">`);
  });

  it("knows a file of this server by its full address too, below the page's own path", () => {
    const file = `api/blobs/${"0af1".repeat(16)}`;
    for (const page of ["https://chat.example/", "https://chat.example/#/c/1", "http://127.0.0.1:8006/", "https://example.org/chat/"]) {
      const folder = page.replace(/#.*$/, "");
      expect(safePicture(`${folder}${file}`, page)).toBe(file);
      expect(safePicture(`${folder}${file}?x`, page)).toBeNull();
    }
    for (const other of ["https://chat.example.org/", "http://chat.example/", "https://chat.example:8006/", "https://chat.example/other/"]) {
      expect(safePicture(`${other}${file}`, "https://chat.example/")).toBeNull();
    }
    expect(safePicture(`https://chat.example/${file}`)).toBeNull();
  });

  it.each(["data:image/svg+xml;base64,PHN2Zz4=", "data:text/html;base64,aGk=", "data:image/png,x", "api/session", "api/blobs/../session", "//example.org/a.png", "javascript:alert(1)"])(
    "draws no image of %s",
    (address) => {
      expect(safePicture(address)).toBeNull();
      expect(html(`![a](${address})`)).not.toMatch(/<img|data-show/);
    },
  );

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
