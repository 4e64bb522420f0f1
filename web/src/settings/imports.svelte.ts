// Imports files of conversations one after the other. No DOM.
import type { ImportReport } from "../wire/chat/conversations";
import { problemOf } from "../wire/transport/http";
import { newId } from "../wire/chat/rows";
import type { SendFile, Upload } from "../wire/transport/upload";

export interface Import {
  readonly key: string;
  readonly name: string;
  /** `reading`: uploaded, and being parsed by the server. */
  readonly stage: "waiting" | "sending" | "reading" | "done" | "failed";
  /** Uploaded share, 0 to 1. */
  readonly share: number;
  readonly report: ImportReport | null;
  readonly problem: string;
}

export class Imports {
  readonly #importFile: SendFile<ImportReport>;
  #items = $state.raw<readonly Import[]>([]);
  #waiting: { readonly key: string; readonly file: File }[] = [];
  #current: { readonly key: string; readonly upload: Upload<ImportReport> } | null = null;

  constructor(importFile: SendFile<ImportReport>) {
    this.#importFile = importFile;
  }

  get items(): readonly Import[] {
    return this.#items;
  }

  get busy(): boolean {
    return this.#items.some(({ stage }) => stage === "waiting" || stage === "sending" || stage === "reading");
  }

  add(files: Iterable<File>): void {
    for (const file of files) {
      const key = newId();
      this.#waiting.push({ key, file });
      this.#items = [...this.#items, { key, name: file.name, stage: "waiting", share: 0, report: null, problem: "" }];
    }
    void this.#next();
  }

  /** Removes an entry and aborts its upload. What the server has already imported stays. */
  remove(key: string): void {
    this.#waiting = this.#waiting.filter((other) => other.key !== key);
    if (this.#current?.key === key) this.#current.upload.abort();
    this.#items = this.#items.filter((other) => other.key !== key);
  }

  async #next(): Promise<void> {
    if (this.#current) return;
    const next = this.#waiting.shift();
    if (!next) return;
    const { key, file } = next;
    this.#change(key, { stage: "sending" });
    const upload = this.#importFile(file, (share) => this.#change(key, share < 1 ? { share } : { share, stage: "reading" }));
    this.#current = { key, upload };
    const answer = await upload.answer;
    this.#current = null;
    if (answer.kind === "ok") this.#change(key, { stage: "done", share: 1, report: answer.value });
    else this.#change(key, { stage: "failed", problem: problemOf(answer) });
    void this.#next();
  }

  #change(key: string, changes: Partial<Import>): void {
    this.#items = this.#items.map((item) => (item.key === key ? { ...item, ...changes } : item));
  }
}
