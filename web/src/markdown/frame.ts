// What the page and preview.html say to each other. The frame may hold what a model wrote: nothing it says is believed
// beyond its shape, and nothing of it is ever put into the page.

export interface Palette {
  readonly ink: string;
  readonly paper: string;
  readonly surface: string;
  readonly line: string;
  readonly muted: string;
  readonly accent: string;
}

/** What the frame is asked to show. */
export type Asked =
  | { readonly kind: "document"; readonly html: string }
  | { readonly kind: "diagram"; readonly text: string; readonly palette: Palette; readonly dark: boolean };

/** What the frame tells. Heights are pixels. */
export type Told =
  | { readonly kind: "ready" }
  | { readonly kind: "height"; readonly height: number }
  | { readonly kind: "drawn"; readonly svg: string }
  | { readonly kind: "failed"; readonly sentence: string };

const TALLEST = 20_000;
const LONGEST = 2_000;

/** The message that a frame's data is; null where it is none. */
export function toldBy(data: unknown): Told | null {
  if (typeof data !== "object" || data === null) return null;
  const { kind, height, svg, sentence } = data as Record<string, unknown>;
  if (kind === "ready") return { kind };
  if (kind === "height" && typeof height === "number" && height > 0) return { kind, height: Math.min(height, TALLEST) };
  if (kind === "drawn" && typeof svg === "string") return { kind, svg };
  if (kind === "failed" && typeof sentence === "string") return { kind, sentence: sentence.slice(0, LONGEST) };
  return null;
}

/** Whether a code block is something that a browser shows. */
export function isPreviewable(language: string, code: string): boolean {
  const label = language.toLowerCase();
  return ["html", "htm", "xhtml", "svg"].includes(label) || (label === "xml" && /^\s*(<\?xml[^>]*>\s*)?(<!--[^]*?-->\s*)?<svg[\s>]/.test(code));
}

const DOCTYPE = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype[^>]*>)?/i;

/** The document that a block of code is: its links lead nowhere, a drawing fits the frame. */
export function documentOf(language: string, code: string): string {
  const drawing = language.toLowerCase() === "svg" || language.toLowerCase() === "xml";
  const rest = code.replace(DOCTYPE, "");
  const style = drawing ? "<style>html{display:grid;height:100%}body{display:grid;place-items:center;margin:0}svg{max-width:100%;max-height:100vh;height:auto}</style>" : "";
  return `<!doctype html><base target="_blank">${style}${rest}`;
}
