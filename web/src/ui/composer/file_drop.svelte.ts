// Files dragged over the page. Owns whether some are over it now; text and links keep going where the browser puts them.
import type { Entry } from "./dropped_files";

/** Files that are taken out of folders at once. */
const MAX_FILES = 200;

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

export class FileDrop {
  readonly #take: (files: Iterable<File>) => void;
  #over = $state(false);

  constructor(take: (files: Iterable<File>) => void) {
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
      if (event.dataTransfer) void this.#open(event.dataTransfer);
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

  /** What was dropped can only be asked for now; what is in folders, later. */
  async #open({ files, items }: DataTransfer): Promise<void> {
    const entries = [...items].flatMap((item) => (item.kind === "file" ? (item.webkitGetAsEntry() ?? []) : []));
    if (!entries.some(({ isDirectory }) => isDirectory)) return this.#take([...files]);
    const { filesIn } = await import("./dropped_files");
    this.#take(await filesIn(entries as unknown as Entry[], MAX_FILES));
  }
}
