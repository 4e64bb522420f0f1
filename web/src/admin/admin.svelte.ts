// The admin page's state: workers, queue and the figures of the last while, asked for again and again while the page
// is open. Knows no DOM.
import { type AdminClient, type QueueState, type Sample, type WorkerRow } from "../wire/admin";
import type { Clock } from "../wire/transport/clock";
import { type Answer, problemOf } from "../wire/transport/http";

/** Milliseconds between two looks. */
const POLL = 2000;
/** Seconds that are shown. */
export const SPAN = 900;

export interface AdminSurroundings {
  readonly client: AdminClient;
  readonly clock: Clock;
  readonly say: (sentence: string) => void;
}

export class Admin {
  readonly #around: AdminSurroundings;
  #workers = $state.raw<readonly WorkerRow[]>([]);
  #queue = $state.raw<QueueState | null>(null);
  #samples = $state.raw<readonly Sample[]>([]);
  #now = $state(0);
  #step = $state(5);
  #problem = $state("");
  #known = $state(false);
  /** Counts its openings; 0 while it is closed. */
  #opening = 0;
  #openings = 0;
  #cancelTimer: (() => void) | null = null;

  constructor(around: AdminSurroundings) {
    this.#around = around;
  }

  get workers(): readonly WorkerRow[] {
    return this.#workers;
  }

  get queue(): QueueState | null {
    return this.#queue;
  }

  /** Oldest first, of the last `SPAN` seconds. */
  get samples(): readonly Sample[] {
    return this.#samples;
  }

  /** The server's clock at the last look, unix seconds. */
  get now(): number {
    return this.#now;
  }

  /** Seconds between samples. */
  get step(): number {
    return this.#step;
  }

  get problem(): string {
    return this.#problem;
  }

  get known(): boolean {
    return this.#known;
  }

  open(): void {
    if (this.#opening > 0) return;
    this.#opening = ++this.#openings;
    void this.#look();
  }

  close(): void {
    this.#opening = 0;
    this.#cancelTimer?.();
  }

  async restart(worker: string): Promise<void> {
    const answer = await this.#around.client.restart(worker);
    if (answer.kind !== "ok") this.#around.say(problemOf(answer));
  }

  async #look(): Promise<void> {
    const { client, clock } = this.#around;
    const opening = this.#opening;
    const since = this.#samples.at(-1)?.at ?? 0;
    const [workers, queue, figures] = await Promise.all([client.workers(), client.queue(), client.figures(since)]);
    if (opening !== this.#opening) return;
    const bad = [workers, queue, figures].find((answer: Answer<unknown>) => answer.kind !== "ok");
    this.#problem = bad ? problemOf(bad) : "";
    if (workers.kind === "ok") this.#workers = workers.value.workers;
    if (queue.kind === "ok") this.#queue = queue.value;
    if (figures.kind === "ok") {
      const { now, step, samples } = figures.value;
      this.#now = now;
      this.#step = step;
      const newer = samples.filter(({ at }) => at > since);
      this.#samples = [...this.#samples, ...newer].filter(({ at }) => at > now - SPAN);
      this.#known = true;
    }
    this.#cancelTimer = clock.after(POLL, () => void this.#look());
  }
}
