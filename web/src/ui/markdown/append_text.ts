// Text in an element, which grows at its end.

/** Makes `text` the element's text. What is there already stays, and with it what somebody has selected of it. */
export function appendText(element: HTMLElement, text: string): void {
  const only = element.childNodes.length === 1 ? element.firstChild : null;
  if (only instanceof Text && text.startsWith(only.data)) only.appendData(text.slice(only.data.length));
  else element.textContent = text;
}
