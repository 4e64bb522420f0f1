// Renders formulas with KaTeX. Elements are created and styled through the DOM, since the page's policy forbids style
// attributes in markup.
import "katex/contrib/mhchem";
import "katex/dist/katex.min.css";

import { render } from "katex";

const LIMITS = { maxExpand: 1000, maxSize: 50 };

/** Replaces a formula's source by its rendering; an invalid one stays source. */
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
