// Draws formulas, with KaTeX and its fonts, which come with this part. Elements are made one by one and styled by the
// style object: the page's policy takes no style out of markup.
import "katex/contrib/mhchem";
import "katex/dist/katex.min.css";

import { render } from "katex";

const LIMITS = { maxExpand: 1000, maxSize: 50 };

/** Puts the drawn formula in the place of its source; one that cannot be read keeps it. */
export function draw(element: HTMLElement): void {
  const source = element.textContent;
  const rendered = document.createElement(element.tagName);
  try {
    render(source, rendered, { ...LIMITS, displayMode: element.dataset["maths"] === "display", throwOnError: true, strict: "ignore", trust: false, output: "htmlAndMathml" });
  } catch {
    element.classList.add("unreadable");
    return;
  }
  element.replaceChildren(...rendered.childNodes);
  element.classList.add("drawn");
}
