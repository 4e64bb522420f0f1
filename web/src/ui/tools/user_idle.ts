// Whether the person does nothing on the page at the moment, so that something may ask for their attention.

/** Milliseconds after the last key. */
const PAUSE = 5000;

// What came before this part of the page was there is not known: it may have been just now.
let lastKey = performance.now();

addEventListener("keydown", ({ timeStamp }) => (lastKey = timeStamp), { capture: true, passive: true });

/** Nothing has the focus; or the empty field of the composer has, and nobody has typed for a while. */
export function isUserIdle(): boolean {
  const { activeElement } = document;
  if (activeElement === document.body || activeElement === null) return true;
  const empty = activeElement instanceof HTMLTextAreaElement && activeElement.closest("#composer") !== null && activeElement.value === "";
  return empty && performance.now() - lastKey > PAUSE;
}
