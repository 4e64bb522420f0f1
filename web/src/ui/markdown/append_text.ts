// Text in an element that grows at its end.

/** Sets the element's text by appending if possible, so that a selection in it stays. */
export function appendText(element: HTMLElement, text: string): void {
  const only = element.childNodes.length === 1 ? element.firstChild : null;
  if (only instanceof Text && text.startsWith(only.data)) only.appendData(text.slice(only.data.length));
  else element.textContent = text;
}
