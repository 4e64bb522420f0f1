// Opens a <dialog> as modal, puts the focus where typing or Enter should start, and returns it when the dialog is removed.
// The browser keeps the focus inside.

const FIELD = "input:not([type=hidden], [type=radio], [type=checkbox], :disabled, :read-only), textarea:not(:disabled, :read-only), select:not(:disabled)";

/** Only after `showModal`, which focuses the first button, and so takes the focus from what a component focused before. */
function focusFirst(dialog: HTMLDialogElement): void {
  const first = dialog.querySelector<HTMLElement>("[autofocus]") ?? dialog.querySelector<HTMLElement>(FIELD);
  first?.focus();
  if (first instanceof HTMLInputElement) first.select();
}

/** For `{@attach}` on a dialog; `close` removes it. */
export function modal(close: () => void): (dialog: HTMLDialogElement) => () => void {
  return (dialog) => {
    const previousFocus = document.activeElement;
    // On Escape the browser would close the dialog at once and report it a moment later. A key pressed in between
    // reached a button whose dialog still counted as open, and was lost.
    const onCancel = (event: Event) => {
      // A cancelled file chooser inside the dialog bubbles the same event.
      if (event.target !== dialog) return;
      event.preventDefault();
      close();
    };
    dialog.addEventListener("cancel", onCancel);
    dialog.addEventListener("close", close);
    dialog.showModal();
    focusFirst(dialog);
    return () => {
      dialog.removeEventListener("cancel", onCancel);
      dialog.removeEventListener("close", close);
      // A dialog that is removed while open does not return the focus by itself.
      if (document.activeElement === document.body && previousFocus instanceof HTMLElement) previousFocus.focus({ preventScroll: true });
    };
  };
}
