// Whether the user is idle, so that something may take the focus.

/** Milliseconds after the last keystroke. */
const PAUSE = 5000;

// Keystrokes before this module was loaded are unknown: assume one just now.
let lastKey = performance.now();

addEventListener("keydown", ({ timeStamp }) => (lastKey = timeStamp), { capture: true, passive: true });

/** Nothing has the focus, or the empty composer has and no key was pressed for a while. */
export function isUserIdle(): boolean {
  const { activeElement } = document;
  if (activeElement === document.body || activeElement === null) return true;
  const empty = activeElement instanceof HTMLTextAreaElement && activeElement.closest("#composer") !== null && activeElement.value === "";
  return empty && performance.now() - lastKey > PAUSE;
}
