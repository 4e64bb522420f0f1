// Highlights code and renders formulas of finished blocks. Loaded with the first such block. Long work is split into
// slices, so that key presses get through.
import { highlighter } from "../../markdown/highlight/highlighter";
import { type HighlightRuns, TOKEN_KINDS } from "../../markdown/highlight/runs";
import { loadOnce } from "../parts/load_once";

const loadFormulas = loadOnce(() => import("./draw_formula"));

/** Runs of code highlighted per slice, and time (milliseconds) spent on formulas per slice. */
const SLICE = 1500;
const SLICE_MS = 8;

type IsAlive = () => boolean;

function pause(): Promise<void> {
  return new Promise((resume) => ("requestIdleCallback" in window ? requestIdleCallback(() => resume(), { timeout: 500 }) : setTimeout(resume, 20)));
}

/** Wraps the text of `code` in coloured spans without ever changing the text. */
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

/** Highlights the code in `element`. */
export async function colourCode(element: HTMLElement, language: string, isAlive: IsAlive): Promise<void> {
  const runs = await highlighter.highlight(element.textContent, language);
  if (runs !== null && isAlive()) await applyColours(element, runs, isAlive);
}

async function drawFormulas(formulas: readonly HTMLElement[], isAlive: IsAlive): Promise<void> {
  const { draw } = await loadFormulas();
  let began = performance.now();
  for (const formula of formulas) {
    if (!isAlive()) return;
    draw(formula);
    if (performance.now() - began < SLICE_MS) continue;
    await pause();
    began = performance.now();
  }
}

/** Highlights code and renders formulas in a block of HTML. */
export async function enhance(root: HTMLElement, isAlive: IsAlive): Promise<void> {
  const formulas = [...root.querySelectorAll<HTMLElement>("[data-maths]")];
  const codes = [...root.querySelectorAll<HTMLElement>("code[data-language]")];
  await Promise.all([
    ...(formulas.length > 0 ? [drawFormulas(formulas, isAlive)] : []),
    ...codes.map((code) => colourCode(code, code.dataset["language"] ?? "", isAlive)),
  ]);
}
