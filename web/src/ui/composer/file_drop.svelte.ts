// Accepts files dropped anywhere on the page. Dragged text and links are left to the browser.
import type { Entry } from "./dropped_files";

/** Most files taken from dropped folders at once. */
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
      // Left the window, rather than entered a child element.
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

  /** The entries can only be read during the event; their contents later. */
  async #open({ files, items }: DataTransfer): Promise<void> {
    const entries = [...items].flatMap((item) => (item.kind === "file" ? (item.webkitGetAsEntry() ?? []) : []));
    if (!entries.some(({ isDirectory }) => isDirectory)) return this.#take([...files]);
    const { filesIn } = await import("./dropped_files");
    this.#take(await filesIn(entries as unknown as Entry[], MAX_FILES));
  }
}
