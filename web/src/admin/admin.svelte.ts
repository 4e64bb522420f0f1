// State of the admin screen: workers, queue and recent metrics, polled while the screen is open. No DOM.
import { type AdminClient, type AppRow, type LifeState, type QueueState, type Sample, type WorkerRow } from "../wire/server/admin";
import type { Clock } from "../wire/transport/clock";
import { type Answer, problemOf } from "../wire/transport/http";

/** Milliseconds between polls. */
const POLL_MS = 2000;
/** Seconds of history shown. */
export const SPAN_S = 900;

export interface AdminDependencies {
  readonly client: AdminClient;
  readonly clock: Clock;
  readonly notify: (sentence: string) => void;
}

export class Admin {
  readonly #deps: AdminDependencies;
  #workers = $state.raw<readonly WorkerRow[]>([]);
  #queue = $state.raw<QueueState | null>(null);
  #apps = $state.raw<readonly AppRow[]>([]);
  #life = $state.raw<LifeState | null>(null);
  #samples = $state.raw<readonly Sample[]>([]);
  #now = $state(0);
  #step = $state(5);
  #problem = $state("");
  #loaded = $state(false);
  /** Number of the current opening, 0 while closed: an answer to an earlier opening is dropped. */
  #opening = 0;
  #openings = 0;
  #cancelTimer: (() => void) | null = null;

  constructor(deps: AdminDependencies) {
    this.#deps = deps;
  }

  get workers(): readonly WorkerRow[] {
    return this.#workers;
  }

  get queue(): QueueState | null {
    return this.#queue;
  }

  get apps(): readonly AppRow[] {
    return this.#apps;
  }

  get life(): LifeState | null {
    return this.#life;
  }

  /** The last `SPAN_S` seconds, oldest first. */
  get samples(): readonly Sample[] {
    return this.#samples;
  }

  /** Server time of the last poll, unix seconds. */
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

  get loaded(): boolean {
    return this.#loaded;
  }

  open(): void {
    if (this.#opening > 0) return;
    this.#opening = ++this.#openings;
    void this.#poll();
  }

  close(): void {
    this.#opening = 0;
    this.#cancelTimer?.();
  }

  /** The switch moves at once, and back where the server refuses. */
  async switchApp(id: string, enabled: boolean): Promise<void> {
    const before = this.#apps;
    this.#apps = before.map((app) => (app.app_id === id ? { ...app, enabled } : app));
    const answer = await this.#deps.client.switchApp(id, enabled);
    if (answer.kind === "ok") this.#apps = this.#apps.map((app) => (app.app_id === id ? answer.value : app));
    else {
      this.#apps = before;
      this.#deps.notify(problemOf(answer));
    }
  }

  async restart(worker: string): Promise<void> {
    const answer = await this.#deps.client.restart(worker);
    if (answer.kind !== "ok") this.#deps.notify(problemOf(answer));
  }

  /** The server takes no new work, or takes it again. */
  async drain(on: boolean): Promise<void> {
    this.#take(await this.#deps.client.drain(on));
  }

  /** As `drain`, for one worker. */
  async drainWorker(worker: string, on: boolean): Promise<void> {
    const answer = await this.#deps.client.drainWorker(worker, on);
    this.#take(answer);
    if (answer.kind === "ok") this.#workers = this.#workers.map((row) => (row.worker_id === worker ? { ...row, draining: on } : row));
  }

  /** Every worker is replaced, one after another. */
  async restartAll(): Promise<void> {
    this.#take(await this.#deps.client.restartAll());
  }

  #take(answer: Answer<LifeState>): void {
    if (answer.kind === "ok") this.#life = answer.value;
    else this.#deps.notify(problemOf(answer));
  }

  async #poll(): Promise<void> {
    const { client, clock } = this.#deps;
    const opening = this.#opening;
    const since = this.#samples.at(-1)?.at ?? 0;
    const shown = this.#apps;
    const lifeBefore = this.#life;
    const [workers, queue, metrics, apps, life] = await Promise.all([
      client.workers(),
      client.queue(),
      client.metrics(since),
      client.apps(),
      client.life(),
    ]);
    if (opening !== this.#opening) return;
    const failure = [workers, queue, metrics, apps, life].find((answer: Answer<unknown>) => answer.kind !== "ok");
    this.#problem = failure ? problemOf(failure) : "";
    if (workers.kind === "ok") this.#workers = workers.value.workers;
    if (queue.kind === "ok") this.#queue = queue.value;
    // An answer from before a button was pressed would undo what it shows.
    if (life.kind === "ok" && this.#life === lifeBefore) this.#life = life.value;
    // An answer from before a switch was moved would move it back.
    if (apps.kind === "ok" && this.#apps === shown) this.#apps = apps.value.apps;
    if (metrics.kind === "ok") {
      const { now, step, samples } = metrics.value;
      this.#now = now;
      this.#step = step;
      const newer = samples.filter(({ at }) => at > since);
      this.#samples = [...this.#samples, ...newer].filter(({ at }) => at > now - SPAN_S);
      this.#loaded = true;
    }
    this.#cancelTimer = clock.after(POLL_MS, () => void this.#poll());
  }
}
