// Roving tabindex: Tab reaches only one of all [data-row] elements and its controls, arrow keys move between rows. Rows
// are rendered unreachable.

const ROW = "[data-row]";
const INSIDE = "a[href], button, input";

function rowsOf(root: Element): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(ROW)];
}

/** Focusable elements of a row, without those of its open menu. */
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

/** Index of the row that has the focus; -1 if none. */
export function focusedRow(root: Element): number {
  const row = document.activeElement?.closest<HTMLElement>(ROW);
  return row ? rowsOf(root).indexOf(row) : -1;
}

/** The row at an index, or the last one. */
export function rowAt(root: Element, place: number): HTMLElement | undefined {
  const rows = rowsOf(root);
  return rows[Math.min(place, rows.length - 1)];
}

/** Keeps one row reachable while rows come and go. `onExit` is called for arrow up on the first row. */
export function rovingFocus(root: HTMLElement, onExit: () => void): () => void {
  let reachable: HTMLElement | null = null;
  /** A row has had the focus; before that the current row is reachable, else the first. */
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

  // New elements are unreachable unless they belong to the reachable row.
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
