// Copies text and rich text. Plain HTTP pages have no clipboard API, so there is a fallback.

/** Adds a hidden element to the page while `use` runs. */
function withHidden<Value>(element: HTMLElement, use: (element: HTMLElement) => Value): Value {
  element.classList.add("unseen");
  const focused = document.activeElement;
  document.body.append(element);
  const value = use(element);
  element.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return value;
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  return withHidden(area, () => {
    area.select();
    return document.execCommand("copy");
  });
}

function copySelected(element: HTMLElement): boolean {
  return withHidden(element, () => {
    const selection = getSelection();
    selection?.selectAllChildren(element);
    const copied = document.execCommand("copy");
    selection?.removeAllRanges();
    return copied;
  });
}

/** Returns whether it worked. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** A copy of the elements without controls. */
function contentOf(elements: Iterable<Element>): HTMLElement {
  const content = document.createElement("div");
  for (const element of elements) content.append(element.cloneNode(true));
  // A rendered formula exists twice, as HTML and as MathML.
  for (const control of content.querySelectorAll("button, iframe, .code-bar, .visually-hidden, .katex-html")) control.remove();
  return content;
}

/** Copies with formatting, for programs that accept it. */
export async function copyRich(elements: Iterable<Element>, text: string): Promise<boolean> {
  const content = contentOf(elements);
  try {
    const kinds = { "text/html": new Blob([content.innerHTML], { type: "text/html" }), "text/plain": new Blob([text], { type: "text/plain" }) };
    await navigator.clipboard.write([new ClipboardItem(kinds)]);
    return true;
  } catch {
    return copySelected(content);
  }
}

/** Copies as plain text with line breaks. */
export function copyPlain(elements: Iterable<Element>): Promise<boolean> {
  const content = contentOf(elements);
  for (const formula of content.querySelectorAll(".maths.drawn")) formula.textContent = formula.querySelector("annotation")?.textContent ?? "";
  return copy(withHidden(content, () => content.innerText.trim()));
}
