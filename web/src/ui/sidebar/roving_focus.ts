// Rows that the Tab key passes once and the arrow keys go through: of all [data-row] only one, and what is in it, can be
// reached by Tab. Owns that for the element it is attached to; the rows themselves are drawn unreachable.

const ROW = "[data-row]";
const INSIDE = "a[href], button, input";

function rowsOf(root: Element): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(ROW)];
}

/** What can have the focus in a row; a menu that hangs in it sees to itself. */
function focusablesOf(row: HTMLElement): HTMLElement[] {
  if (row.matches(INSIDE)) return [row];
  return [...row.querySelectorAll<HTMLElement>(INSIDE)].filter((element) => !element.closest("[popover]"));
}

function setReachable(row: HTMLElement, reachable: boolean): void {
  for (const element of focusablesOf(row)) element.tabIndex = reachable ? 0 : -1;
}

export function focusRow(row: HTMLElement | undefined): void {
  if (row) focusablesOf(row)[0]?.focus();
}

/** The row the focus is in, counted from the first; -1 where it is elsewhere. */
export function focusedRow(root: Element): number {
  const row = document.activeElement?.closest<HTMLElement>(ROW);
  return row ? rowsOf(root).indexOf(row) : -1;
}

/** The row at a place, or the last one above it. */
export function rowAt(root: Element, place: number): HTMLElement | undefined {
  const rows = rowsOf(root);
  return rows[Math.min(place, rows.length - 1)];
}

/** Keeps one row within reach whatever comes and goes; `above` is told when the arrow leaves at the top. */
export function rovingFocus(root: HTMLElement, onExit: () => void): () => void {
  let reachable: HTMLElement | null = null;
  /** It was gone to; until then the first one is within reach, or the current one. */
  let hasFocused = false;

  function makeReachable(row: HTMLElement): void {
    if (reachable !== row && reachable) setReachable(reachable, false);
    reachable = row;
    setReachable(row, true);
  }

  function ensureReachable(): void {
    if (hasFocused && reachable && root.contains(reachable)) return;
    hasFocused = false;
    const row = root.querySelector("[aria-current]")?.closest<HTMLElement>(ROW) ?? root.querySelector<HTMLElement>(ROW);
    if (row) makeReachable(row);
  }

  function onFocusIn(event: FocusEvent): void {
    const row = (event.target as Element).closest<HTMLElement>(ROW);
    if (!row || (event.target as Element).closest("[popover]")) return;
    hasFocused = true;
    makeReachable(row);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const types = target instanceof HTMLInputElement && target.type !== "checkbox";
    if (types || target.closest("[popover]") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const row = target.closest<HTMLElement>(ROW);
    const rows = rowsOf(root);
    const at = row ? rows.indexOf(row) : -1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0) onExit();
    else focusRow(rows[to]);
  }

  // Rows come, go and turn into something else; what is new in them is out of reach until its row is taken.
  const observer = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) {
        if (!(node instanceof HTMLElement)) continue;
        const row = node.closest<HTMLElement>(ROW);
        if (row) setReachable(row, row === reachable);
        for (const inner of rowsOf(node)) setReachable(inner, inner === reachable);
      }
    }
    ensureReachable();
  });
  observer.observe(root, { childList: true, subtree: true });
  for (const row of rowsOf(root)) setReachable(row, false);
  ensureReachable();
  root.addEventListener("focusin", onFocusIn);
  root.addEventListener("keydown", onKeyDown);
  return () => {
    observer.disconnect();
    root.removeEventListener("focusin", onFocusIn);
    root.removeEventListener("keydown", onKeyDown);
  };
}
