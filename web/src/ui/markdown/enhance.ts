// The late part of a finished block: its code gets its colours, its formulas are drawn. Comes when the first such block
// is seen, and brings what draws them. Long work is done in slices, between which a key press comes through.
import { highlighter } from "../../markdown/highlight/highlighter";
import { TOKEN_KINDS, type HighlightRuns } from "../../markdown/highlight/runs";

/** Pieces of code coloured at a time, and for how long (milliseconds) formulas are drawn at a time. */
const SLICE = 1500;
const SLICE_MS = 8;

type IsAlive = () => boolean;

function pause(): Promise<void> {
  return new Promise((resume) => ("requestIdleCallback" in window ? requestIdleCallback(() => resume(), { timeout: 500 }) : setTimeout(resume, 20)));
}

/** Lays the colours over the text of `code`, which stays the same text all the while. */
async function applyColours(code: HTMLElement, runs: HighlightRuns, isAlive: IsAlive): Promise<void> {
  const remaining = code.firstChild;
  if (!(remaining instanceof Text) || code.childNodes.length > 1) return;
  for (let at = 0; at < runs.length; ) {
    const end = Math.min(at + 2 * SLICE, runs.length);
    const slice = document.createDocumentFragment();
    let from = 0;
    for (; at < end; at += 2) {
      const text = remaining.data.slice(from, (from += runs[at]!));
      const kind = TOKEN_KINDS[runs[at + 1]!];
      if (kind === undefined || kind === "plain") slice.append(text);
      else {
        const span = document.createElement("span");
        span.className = `code-${kind}`;
        span.textContent = text;
        slice.append(span);
      }
    }
    remaining.deleteData(0, from);
    code.insertBefore(slice, remaining);
    if (at < runs.length) await pause();
    if (!isAlive() || remaining.parentNode !== code) return;
  }
}

/** Colours the code in `element`, whose text it is. */
export async function colourCode(element: HTMLElement, language: string, isAlive: IsAlive): Promise<void> {
  const runs = await highlighter.highlight(element.textContent, language);
  if (runs !== null && isAlive()) await applyColours(element, runs, isAlive);
}

async function drawFormulas(formulas: readonly HTMLElement[], isAlive: IsAlive): Promise<void> {
  const { draw } = await import("./draw_formula");
  let began = performance.now();
  for (const formula of formulas) {
    if (!isAlive()) return;
    draw(formula);
    if (performance.now() - began < SLICE_MS) continue;
    await pause();
    began = performance.now();
  }
}

/** Colours and draws what is in a block of HTML. */
export async function enhance(root: HTMLElement, isAlive: IsAlive): Promise<void> {
  const formulas = [...root.querySelectorAll<HTMLElement>("[data-maths]")];
  const codes = [...root.querySelectorAll<HTMLElement>("code[data-language]")];
  await Promise.all([
    ...(formulas.length > 0 ? [drawFormulas(formulas, isAlive)] : []),
    ...codes.map((code) => colourCode(code, code.dataset["language"] ?? "", isAlive)),
  ]);
}
