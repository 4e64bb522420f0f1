// The late part of a finished block: its code gets its colours, its formulas are drawn. Comes when the first such block
// is seen, and brings what draws them. Long work is done in slices, between which a key press comes through.
import { highlighter } from "../../markdown/highlight/highlighter";
import { TOKEN_KINDS, type HighlightRuns } from "../../markdown/highlight/runs";

/** Pieces of code coloured at a time, and for how long (milliseconds) formulas are drawn at a time. */
const SLICE = 1500;
const SLICE_MS = 8;

type Alive = () => boolean;

function pause(): Promise<void> {
  return new Promise((resume) => ("requestIdleCallback" in window ? requestIdleCallback(() => resume(), { timeout: 500 }) : setTimeout(resume, 20)));
}

/** Lays the colours over the text of `code`, which stays the same text all the while. */
async function paint(code: HTMLElement, pieces: HighlightRuns, alive: Alive): Promise<void> {
  const rest = code.firstChild;
  if (!(rest instanceof Text) || code.childNodes.length > 1) return;
  for (let at = 0; at < pieces.length; ) {
    const end = Math.min(at + 2 * SLICE, pieces.length);
    const slice = document.createDocumentFragment();
    let from = 0;
    for (; at < end; at += 2) {
      const text = rest.data.slice(from, (from += pieces[at]!));
      const kind = TOKEN_KINDS[pieces[at + 1]!];
      if (kind === undefined || kind === "plain") slice.append(text);
      else {
        const span = document.createElement("span");
        span.className = `code-${kind}`;
        span.textContent = text;
        slice.append(span);
      }
    }
    rest.deleteData(0, from);
    code.insertBefore(slice, rest);
    if (at < pieces.length) await pause();
    if (!alive() || rest.parentNode !== code) return;
  }
}

/** Colours the code in `element`, whose text it is. */
export async function colourCode(element: HTMLElement, language: string, alive: Alive): Promise<void> {
  const pieces = await highlighter.highlight(element.textContent, language);
  if (pieces !== null && alive()) await paint(element, pieces, alive);
}

async function drawFormulas(formulas: readonly HTMLElement[], alive: Alive): Promise<void> {
  const { draw } = await import("./draw_formula");
  let began = performance.now();
  for (const formula of formulas) {
    if (!alive()) return;
    draw(formula);
    if (performance.now() - began < SLICE_MS) continue;
    await pause();
    began = performance.now();
  }
}

/** Colours and draws what is in a block of HTML. */
export async function enhance(root: HTMLElement, alive: Alive): Promise<void> {
  const formulas = [...root.querySelectorAll<HTMLElement>("[data-maths]")];
  const codes = [...root.querySelectorAll<HTMLElement>("code[data-language]")];
  await Promise.all([
    ...(formulas.length > 0 ? [drawFormulas(formulas, alive)] : []),
    ...codes.map((code) => colourCode(code, code.dataset["language"] ?? "", alive)),
  ]);
}
