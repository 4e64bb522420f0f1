// Files of conversations on their way into the server, one after the other, and what came of each. Knows no DOM.
import type { ImportReport } from "../wire/conversations";
import { problemOf } from "../wire/transport/http";
import { newId } from "../wire/rows";
import type { SendFile, Upload } from "../wire/transport/upload";

export interface Import {
  readonly key: string;
  readonly name: string;
  /** `reading`: all of it is there, and the server takes it apart. */
  readonly stage: "waiting" | "sending" | "reading" | "done" | "failed";
  /** How much of it is there, 0 to 1. */
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

  /** Take it away; one that is on its way is stopped. What the server has read of it stays there. */
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
