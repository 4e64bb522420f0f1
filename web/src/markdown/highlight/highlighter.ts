// Sends code to the worker, one block after another. Without a worker, code stays plain.
import type { HighlightRequest } from "./worker";
import { languageNamed } from "./languages";
import type { HighlightRuns } from "./runs";

type Answer = { readonly id: number; readonly runs: HighlightRuns | null };

export class Highlighter {
  #worker: Worker | null = null;
  #pending = new Map<number, (runs: HighlightRuns | null) => void>();
  #count = 0;

  constructor(private start: () => Worker) {}

  /** The highlighted runs of `code`; null if it stays plain. */
  highlight(code: string, label: string): Promise<HighlightRuns | null> {
    if (languageNamed(label) === null) return Promise.resolve(null);
    const request: HighlightRequest = { id: ++this.#count, code, label };
    return new Promise((answer) => {
      this.#pending.set(request.id, answer);
      try {
        this.#worker ??= this.#startWorker();
        this.#worker.postMessage(request);
      } catch {
        this.#fail();
      }
    });
  }

  #startWorker(): Worker {
    const worker = this.start();
    worker.addEventListener("message", ({ data: { id, runs } }: MessageEvent<Answer>) => {
      this.#pending.get(id)?.(runs);
      this.#pending.delete(id);
    });
    worker.addEventListener("error", () => this.#fail());
    return worker;
  }

  #fail(): void {
    for (const answer of this.#pending.values()) answer(null);
    this.#pending.clear();
  }
}

export const highlighter = new Highlighter(() => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));
