// What is dropped anywhere on the page from outside: files are attached; text and links, pictures without a file too, go into the
// message. A link that nobody takes would carry the page away.
import type { Entry } from "./dropped_files";

/** Most files taken from dropped folders at once. */
const MAX_FILES = 200;
const LINKS = "text/uri-list";

export interface DropTargets {
  /** Whether the message is on the screen, and nothing is in front of it. */
  readonly open: () => boolean;
  readonly attach: (files: Iterable<File>) => void;
  readonly insert: (text: string) => void;
  /** There was no file in the folders. */
  readonly reportEmpty: () => void;
}

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

function hasText(event: DragEvent): boolean {
  return event.dataTransfer?.types.some((type) => type === LINKS || type === "text/plain") ?? false;
}

/** The addresses of dropped links, else the text. */
function textOf(data: DataTransfer): string {
  const links = data.getData(LINKS).split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#"));
  return links.length > 0 ? links.join("\n") : data.getData("text/plain");
}

const isField = ({ target }: Event) => target instanceof Element && target.closest("input, textarea, [contenteditable]") !== null;

export class FileDrop {
  readonly #targets: DropTargets;
  #over = $state(false);
  /** What is dragged is of this page: its own handlers, or the browser, know what to do. */
  #own = false;

  constructor(targets: DropTargets) {
    this.#targets = targets;
  }

  get over(): boolean {
    return this.#over;
  }

  /** For `{@attach}` on the document. */
  attach(page: Document): () => void {
    const listeners = {
      dragstart: () => (this.#own = true),
      dragend: () => (this.#own = false),
      dragover: (event: DragEvent) => this.#onDragOver(event),
      // Left the window, rather than entered a child element.
      dragleave: (event: DragEvent) => event.relatedTarget === null && (this.#over = false),
      drop: (event: DragEvent) => this.#onDrop(event),
    };
    const stop = new AbortController();
    for (const [name, listener] of Object.entries(listeners)) page.addEventListener(name, listener as EventListener, { signal: stop.signal });
    return () => stop.abort();
  }

  /** Whether a drop here is for the message. The browser puts text into fields by itself. */
  #isOurs(event: DragEvent): boolean {
    return hasFiles(event) || (hasText(event) && !this.#own && !isField(event));
  }

  #onDragOver(event: DragEvent): void {
    if (event.defaultPrevented || !this.#isOurs(event)) return;
    event.preventDefault();
    const open = this.#targets.open();
    if (!open && event.dataTransfer) event.dataTransfer.dropEffect = "none";
    this.#over = open && hasFiles(event);
  }

  #onDrop(event: DragEvent): void {
    this.#over = false;
    if (event.defaultPrevented || !this.#isOurs(event)) return;
    event.preventDefault();
    const data = event.dataTransfer;
    if (!data || !this.#targets.open()) return;
    if (data.files.length > 0) void this.#open(data);
    else if (textOf(data) !== "") this.#targets.insert(textOf(data));
  }

  /** The entries can only be read during the event; their contents later. */
  async #open({ files, items }: DataTransfer): Promise<void> {
    const entries = [...items].flatMap((item) => (item.kind === "file" ? (item.webkitGetAsEntry() ?? []) : []));
    if (!entries.some(({ isDirectory }) => isDirectory)) return this.#targets.attach([...files]);
    const { filesIn } = await import("./dropped_files");
    const found = await filesIn(entries as unknown as Entry[], MAX_FILES);
    if (found.length > 0) this.#targets.attach(found);
    else this.#targets.reportEmpty();
  }
}
