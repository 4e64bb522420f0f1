// Rows that the Tab key passes once and the arrow keys go through: of all [data-row] only one, and what is in it, can be
// reached by Tab. Owns that for the element it is attached to; the rows themselves are drawn unreachable.

const ROW = "[data-row]";
const INSIDE = "a[href], button, input";

function rowsOf(root: Element): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(ROW)];
}

/** What can have the focus in a row; a menu that hangs in it sees to itself. */
function stopsOf(row: HTMLElement): HTMLElement[] {
  if (row.matches(INSIDE)) return [row];
  return [...row.querySelectorAll<HTMLElement>(INSIDE)].filter((stop) => !stop.closest("[popover]"));
}

function reach(row: HTMLElement, reachable: boolean): void {
  for (const stop of stopsOf(row)) stop.tabIndex = reachable ? 0 : -1;
}

export function focusRow(row: HTMLElement | undefined): void {
  if (row) stopsOf(row)[0]?.focus();
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
export function rovingFocus(root: HTMLElement, above: () => void): () => void {
  let reached: HTMLElement | null = null;
  /** It was gone to; until then the first one is within reach, or the current one. */
  let chosen = false;

  function take(row: HTMLElement): void {
    if (reached !== row && reached) reach(reached, false);
    reached = row;
    reach(row, true);
  }

  function settle(): void {
    if (chosen && reached && root.contains(reached)) return;
    chosen = false;
    const row = root.querySelector("[aria-current]")?.closest<HTMLElement>(ROW) ?? root.querySelector<HTMLElement>(ROW);
    if (row) take(row);
  }

  function focused(event: FocusEvent): void {
    const row = (event.target as Element).closest<HTMLElement>(ROW);
    if (!row || (event.target as Element).closest("[popover]")) return;
    chosen = true;
    take(row);
  }

  function pressed(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const types = target instanceof HTMLInputElement && target.type !== "checkbox";
    if (types || target.closest("[popover]") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const row = target.closest<HTMLElement>(ROW);
    const rows = rowsOf(root);
    const at = row ? rows.indexOf(row) : -1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0) above();
    else focusRow(rows[to]);
  }

  // Rows come, go and turn into something else; what is new in them is out of reach until its row is taken.
  const observer = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) {
        if (!(node instanceof HTMLElement)) continue;
        const row = node.closest<HTMLElement>(ROW);
        if (row) reach(row, row === reached);
        for (const inner of rowsOf(node)) reach(inner, inner === reached);
      }
    }
    settle();
  });
  observer.observe(root, { childList: true, subtree: true });
  for (const row of rowsOf(root)) reach(row, false);
  settle();
  root.addEventListener("focusin", focused);
  root.addEventListener("keydown", pressed);
  return () => {
    observer.disconnect();
    root.removeEventListener("focusin", focused);
    root.removeEventListener("keydown", pressed);
  };
}
