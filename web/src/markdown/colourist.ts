// Asks the worker for colours, one page's blocks after another. Where there is no worker to be had, code stays plain.
import type { Wanted } from "./colour_worker";
import { languageNamed } from "./languages";
import type { Pieces } from "./pieces";

type Answer = { readonly id: number; readonly pieces: Pieces | null };

export class Colourist {
  #worker: Worker | null = null;
  #waiting = new Map<number, (pieces: Pieces | null) => void>();
  #count = 0;

  constructor(private start: () => Worker) {}

  /** The colours of `code`; null where it stays plain. */
  colour(code: string, label: string): Promise<Pieces | null> {
    if (languageNamed(label) === null) return Promise.resolve(null);
    const wanted: Wanted = { id: ++this.#count, code, label };
    return new Promise((answer) => {
      this.#waiting.set(wanted.id, answer);
      try {
        this.#worker ??= this.#begin();
        this.#worker.postMessage(wanted);
      } catch {
        this.#fail();
      }
    });
  }

  #begin(): Worker {
    const worker = this.start();
    worker.addEventListener("message", ({ data: { id, pieces } }: MessageEvent<Answer>) => {
      this.#waiting.get(id)?.(pieces);
      this.#waiting.delete(id);
    });
    worker.addEventListener("error", () => this.#fail());
    return worker;
  }

  #fail(): void {
    for (const answer of this.#waiting.values()) answer(null);
    this.#waiting.clear();
  }
}

export const colourist = new Colourist(() => new Worker(new URL("./colour_worker.ts", import.meta.url), { type: "module" }));
