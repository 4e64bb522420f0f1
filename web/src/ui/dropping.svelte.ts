// Files dragged over the page. Owns whether some are over it now; text and links keep going where the browser puts them.

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

export class Dropping {
  readonly #take: (files: FileList) => void;
  #over = $state(false);

  constructor(take: (files: FileList) => void) {
    this.#take = take;
  }

  get over(): boolean {
    return this.#over;
  }

  /** For `{@attach}` on the document. */
  attach(page: Document): () => void {
    const onDragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.#over = true;
    };
    const onDragLeave = (event: DragEvent) => {
      // Out of the window, not into an element within it.
      if (event.relatedTarget === null) this.#over = false;
    };
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.#over = false;
      if (event.dataTransfer) this.#take(event.dataTransfer.files);
    };
    page.addEventListener("dragover", onDragOver);
    page.addEventListener("dragleave", onDragLeave);
    page.addEventListener("drop", onDrop);
    return () => {
      page.removeEventListener("dragover", onDragOver);
      page.removeEventListener("dragleave", onDragLeave);
      page.removeEventListener("drop", onDrop);
    };
  }
}
