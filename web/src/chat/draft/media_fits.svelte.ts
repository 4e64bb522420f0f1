// What each model would get of each attached file. Asked of the server once for a file and a model; no DOM.
import type { MediaFit } from "../../wire/chat/fits";
import type { Answer } from "../../wire/transport/http";

/** Answers that are remembered; the oldest go first. */
const MOST = 200;

/** What is known: a fit; null while it is asked for or not to be had. */
export class MediaFits {
  readonly #load: (blob: string, model: string) => Promise<Answer<MediaFit>>;
  readonly #asked = new Set<string>();
  #fits = $state.raw<ReadonlyMap<string, MediaFit>>(new Map());

  constructor(load: (blob: string, model: string) => Promise<Answer<MediaFit>>) {
    this.#load = load;
  }

  get(blob: string, model: string | undefined): MediaFit | null {
    return model === undefined ? null : (this.#fits.get(keyOf(blob, model)) ?? null);
  }

  /** The keys of the sounds that are too much together with those before them, and the seconds that there is room for. */
  beyondRoom(items: readonly { readonly key: string; readonly blob: string }[], model: string | undefined): { readonly keys: ReadonlySet<string>; readonly seconds: number } {
    const keys = new Set<string>();
    let [used, room] = [0, 0];
    for (const { key, blob } of items) {
      const { kind, became, seconds = 0, most_seconds: most = 0 } = this.get(blob, model) ?? {};
      if (kind !== "audio" || became !== "kept" || most === 0) continue;
      room = most;
      if (used + seconds > most) keys.add(key);
      else used += seconds;
    }
    return { keys, seconds: room };
  }

  /** Asks the server, unless it was asked. An answer that did not come is asked for again the next time. */
  async need(blob: string, model: string): Promise<void> {
    const key = keyOf(blob, model);
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    const answer = await this.#load(blob, model);
    if (answer.kind !== "ok") return void this.#asked.delete(key);
    this.#fits = new Map([...this.#fits, [key, answer.value] as const].slice(-MOST));
    for (const old of this.#asked) if (this.#asked.size > MOST && !this.#fits.has(old)) this.#asked.delete(old);
  }
}

function keyOf(blob: string, model: string): string {
  return `${blob} ${model}`;
}
