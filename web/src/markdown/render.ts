// Markdown tokens to an HTML string. Model output is never trusted: raw HTML is shown as the text it is, links
// lead only to the web and mail, and images become links, because a fetched image address can carry a
// conversation away. Knows no DOM and no language: `data-says` marks where a word of the page's own belongs. What it
// gives is sanitised once more before it is drawn.
import { Lexer, Marked, Parser, Renderer, type Token, Tokenizer, type Tokens, type TokensList } from "marked";

import { mathsExtension, nextMathsBlock } from "./maths";

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** The address when a link may lead there, else null. Relative ones would lead into this server, so they may not. */
export function safeAddress(href: string): string | null {
  try {
    const url = new URL(href);
    return PROTOCOLS.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** The first word of a fence's info string: ```python title="x" is python. */
export function languageOf(info: string | undefined): string {
  return info?.trim().split(/\s+/)[0] ?? "";
}

function anchor(href: string, html: string): string {
  const address = safeAddress(href);
  if (address === null) return html;
  return `<a href="${escape(address)}" target="_blank" rel="noopener noreferrer">${html}</a>`;
}

class PageRenderer extends Renderer {
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return escape(text).replaceAll("\n", "<br>");
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    // The page's own headings are h1 and, per message, h2: the model's begin below them.
    const level = Math.min(depth + 2, 6);
    return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
  }

  override link({ href, tokens }: Tokens.Link): string {
    return anchor(href, this.parser.parseInline(tokens));
  }

  override image({ href, text }: Tokens.Image): string {
    return anchor(href, `[<span data-says="image"></span>${text ? `: ${escape(text)}` : ""}]`);
  }

  override checkbox({ checked }: Tokens.Checkbox): string {
    return `<span class="check" role="img" data-says="${checked ? "done" : "toDo"}">${checked ? "☑" : "☐"}</span> `;
  }

  override table(token: Tokens.Table): string {
    return `<div class="table" data-scrolls="table">${super.table(token)}</div>`;
  }

  override code({ text, lang }: Tokens.Code): string {
    const language = escape(languageOf(lang));
    return (
      `<div class="code"><div class="code-bar"><span class="language"${language ? "" : ' data-says="text"'}>${language}</span>` +
      `<button type="button" data-copy data-says="copy"></button></div>` +
      `<pre data-scrolls="code"><code data-language="${language}">${escape(text)}</code></pre></div>`
    );
  }
}

class PageTokenizer extends Tokenizer {
  /** A line of equals signs inside a formula underlines nothing. */
  override lheading(source: string): Tokens.Heading | undefined {
    const heading = super.lheading(source);
    const formula = heading && nextMathsBlock(source);
    return formula !== undefined && formula < heading!.raw.length ? undefined : heading;
  }
}

/** A formula as its source, until it is drawn. */
function formula(source: string, display: boolean, block: boolean): string {
  const kind = display ? "display" : "line";
  const scrolls = display ? ' data-scrolls="maths"' : "";
  const tag = block ? "div" : "span";
  return `<${tag} class="maths" data-maths="${kind}"${scrolls}>${escape(source)}</${tag}>`;
}

const options = {
  ...new Marked({ gfm: true, breaks: true }, mathsExtension(formula)).defaults,
  renderer: new PageRenderer(),
  tokenizer: new PageTokenizer(),
};

/** The source as one paragraph of plain text. */
function plain(source: string): TokensList {
  const text: Tokens.Text = { type: "text", raw: source, text: source, escaped: false };
  const paragraph: Tokens.Paragraph = { type: "paragraph", raw: source, text: source, tokens: [text] };
  return Object.assign([paragraph], { links: {} });
}

/** Top-level tokens; their `raw` texts joined are the source. */
export function lex(source: string): TokensList {
  try {
    return new Lexer(options).lex(source);
  } catch {
    // A few texts make the lexer throw (a quote behind a tab inside a list, marked 18.2). Whatever a model writes
    // must not take the page down.
    return plain(source);
  }
}

export function render(tokens: Token[]): string {
  return Parser.parse(tokens, options);
}
