// Renders Markdown tokens to an HTML string. Model output is never trusted: raw HTML is shown as text, links lead only
// to the web and mail, and images at a web address become links with a button, because fetching an image address can leak
// the conversation. No DOM, and no translated words: `data-says` marks where the page inserts its own. The result is sanitised again before it is
// drawn.
import { Lexer, Marked, Parser, Renderer, type Token, Tokenizer, type Tokens, type TokensList } from "marked";

import { mathsExtension, nextMathsBlock } from "./maths";

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** The address if a link may lead there, else null. Relative links would lead into this server, so they are not
 * allowed. */
export function safeAddress(href: string): string | null {
  try {
    const url = new URL(href);
    return PROTOCOLS.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** A picture that is part of the text; no drawings, which are documents. */
const DATA_PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp);base64,[A-Za-z0-9+/]+=*$/;
/** A file of this server, written as the page's own addresses are. */
const OWN_PICTURE = /^(?:\.?\/)?(api\/blobs\/[0-9a-f]{64})$/;

/** The source of a picture that can be drawn at once, relative to the page: no other server is asked. Else null. `page`: the
 * page's own address; models repeat a file's address in full. */
export function safePicture(href: string, page: string = globalThis.document?.baseURI ?? ""): string | null {
  if (DATA_PICTURE.test(href)) return href;
  const folder = page === "" ? "" : new URL(".", page).href;
  const path = folder !== "" && href.startsWith(folder) ? href.slice(folder.length) : href;
  return OWN_PICTURE.exec(path)?.[1] ?? null;
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
    // The page uses h1, and h2 for each message: the model's headings start below.
    const level = Math.min(depth + 2, 6);
    return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
  }

  override link({ href, tokens }: Tokens.Link): string {
    return anchor(href, this.parser.parseInline(tokens));
  }

  override image({ href, text }: Tokens.Image): string {
    const source = safePicture(href);
    if (source !== null) return `<img src="${escape(source)}" alt="${escape(text)}">`;
    const address = safeAddress(href);
    const named = `[<span data-says="image"></span>${text ? `: ${escape(text)}` : ""}]`;
    if (address === null || !/^https?:/.test(address)) return anchor(href, named);
    const name = text ? escape(text) : escape(new URL(address).host);
    return `<span class="web-picture">${anchor(href, name)} <button type="button" data-show data-says="show"></button></span>`;
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
  /** A line of equals signs inside a formula is not a heading underline. */
  override lheading(source: string): Tokens.Heading | undefined {
    const heading = super.lheading(source);
    const formula = heading && nextMathsBlock(source);
    return formula !== undefined && formula < heading!.raw.length ? undefined : heading;
  }
}

/** A formula's source, replaced when it is drawn. */
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

/** The source as a single plain paragraph. */
function plain(source: string): TokensList {
  const text: Tokens.Text = { type: "text", raw: source, text: source, escaped: false };
  const paragraph: Tokens.Paragraph = { type: "paragraph", raw: source, text: source, tokens: [text] };
  return Object.assign([paragraph], { links: {} });
}

/** Top-level tokens; joined, their `raw` texts are the source. */
export function lex(source: string): TokensList {
  try {
    return new Lexer(options).lex(source);
  } catch {
    // Some texts make the lexer throw (a quote after a tab inside a list, marked 18.2). Model output must not break the
    // page.
    return plain(source);
  }
}

export function render(tokens: Token[]): string {
  return Parser.parse(tokens, options);
}
