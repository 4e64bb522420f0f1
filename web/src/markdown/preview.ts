// Messages between the page and the frame of preview.html. The frame may run what a model wrote: only the shape of its
// messages is trusted, and nothing from them is inserted into the page.

export interface Palette {
  readonly ink: string;
  readonly paper: string;
  readonly surface: string;
  readonly line: string;
  readonly muted: string;
  readonly accent: string;
}

/** Requests to the frame. */
export type FrameRequest =
  | { readonly kind: "document"; readonly html: string }
  | { readonly kind: "diagram"; readonly text: string; readonly palette: Palette; readonly dark: boolean };

/** Messages from the frame. Heights are pixels. */
export type FrameMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "height"; readonly height: number }
  | { readonly kind: "drawn"; readonly svg: string }
  | { readonly kind: "failed"; readonly sentence: string };

const MAX_HEIGHT = 20_000;
const MAX_SENTENCE = 2_000;
/** Characters of a drawing that can be saved. */
const MAX_DRAWING = 5_000_000;

/** Validates a message from the frame; null if it is not one. */
export function parseFrameMessage(data: unknown): FrameMessage | null {
  if (typeof data !== "object" || data === null) return null;
  const { kind, height, svg, sentence } = data as Record<string, unknown>;
  if (kind === "ready") return { kind };
  if (kind === "height" && typeof height === "number" && height > 0) return { kind, height: Math.min(height, MAX_HEIGHT) };
  if (kind === "drawn" && typeof svg === "string" && svg.length <= MAX_DRAWING) return { kind, svg };
  if (kind === "failed" && typeof sentence === "string") return { kind, sentence: sentence.slice(0, MAX_SENTENCE) };
  return null;
}

/** Whether a browser can show the code block as a document. */
export function isPreviewable(language: string, code: string): boolean {
  const label = language.toLowerCase();
  return ["html", "htm", "xhtml", "svg"].includes(label) || (label === "xml" && /^\s*(<\?xml[^>]*>\s*)?(<!--[^]*?-->\s*)?<svg[\s>]/.test(code));
}

const DOCTYPE = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype[^>]*>)?/i;

/** The document to preview: links do not navigate the frame, and an SVG is scaled to fit. */
export function documentOf(language: string, code: string): string {
  const isSvg = language.toLowerCase() === "svg" || language.toLowerCase() === "xml";
  const rest = code.replace(DOCTYPE, "");
  const style = isSvg ? "<style>html{display:grid;height:100%}body{display:grid;place-items:center;margin:0}svg{max-width:100%;max-height:100vh;height:auto}</style>" : "";
  return `<!doctype html><base target="_blank">${style}${rest}`;
}
