// A dialog over the page: opened with its element, closed from here, and the focus goes back to where it was. The browser
// keeps the focus inside.

/** For `{@attach}` on a dialog; `close` takes it away. */
export function modal(close: () => void): (dialog: HTMLDialogElement) => () => void {
  return (dialog) => {
    const previousFocus = document.activeElement;
    // On Escape the browser would hide it at once and say so a moment later; a key pressed in between found the focus back on
    // a button whose dialog still counted as open, and did nothing.
    const onCancel = (event: Event) => {
      // A file chooser inside that is left without a choice says the same word.
      if (event.target !== dialog) return;
      event.preventDefault();
      close();
    };
    dialog.addEventListener("cancel", onCancel);
    dialog.addEventListener("close", close);
    dialog.showModal();
    return () => {
      dialog.removeEventListener("cancel", onCancel);
      dialog.removeEventListener("close", close);
      // Taken away while it is open, it gives the focus back to nobody by itself.
      if (document.activeElement === document.body && previousFocus instanceof HTMLElement) previousFocus.focus({ preventScroll: true });
    };
  };
}
