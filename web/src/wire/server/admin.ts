// Admin API: workers, queue and metrics. Types and client.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

export interface WorkerRow {
  readonly worker_id: string;
  readonly engine: string;
  readonly device: string;
  readonly model: string;
  readonly status: string;
  readonly detail: string;
  /** Whether nothing new begins on it, and whether it is about to be removed. */
  readonly draining?: boolean;
  readonly retiring?: boolean;
  /** How its process last ended. */
  readonly last_end?: string | null;
  readonly process: number;
  readonly slots_total: number;
  readonly slots_busy: number;
  readonly seats_total: number;
  readonly seats_busy: number;
  readonly restarts: number;
  readonly total_requests: number;
  readonly avg_inference_time_ms: number;
}

export interface RunningTask {
  readonly ticket_id: string;
  readonly worker_id: string;
  readonly request_type: string;
  readonly elapsed_s: number;
  readonly estimated_remaining_s: number;
}

export interface WaitingTask {
  readonly ticket_id: string;
  readonly request_type: string;
  readonly model: string;
  readonly position: number;
  readonly estimated_wait_s: number;
  readonly wait_elapsed_s: number;
}

export interface QueueState {
  readonly queue_length: number;
  readonly max_queue_size: number;
  readonly items: readonly WaitingTask[];
  readonly running_tasks: readonly RunningTask[];
}

/** Over one sampling interval, in milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
}

/** Medians of the replies of one model that ended in an interval, in milliseconds and tokens per second. */
export interface ModelSample {
  readonly model: string;
  readonly requests: number;
  readonly first_token?: number | null;
  readonly queue_wait?: number | null;
  readonly reply_tokens_per_second?: number | null;
}

export interface Sample {
  /** End of the interval, unix seconds. */
  readonly at: number;
  readonly requests?: number;
  readonly failed?: number;
  /** Of all replies, over the whole interval. */
  readonly tokens_per_second?: number;
  /** The median of the replies that ended, each while it was written. */
  readonly reply_tokens_per_second?: number | null;
  readonly first_token?: Quantiles | null;
  readonly queue_wait?: Quantiles | null;
  readonly running?: number;
  readonly waiting?: number;
  readonly models?: readonly ModelSample[];
}

export interface MetricsHistory {
  readonly now: number;
  /** Seconds between samples. */
  readonly step: number;
  readonly samples: readonly Sample[];
}

/** A mode of the server, and its switch. */
export interface AppRow {
  readonly app_id: string;
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly available: boolean;
  readonly reason: { readonly code: string; readonly message: string } | null;
}

/** A rolling restart: each worker is replaced in turn. */
export interface RestartProgress {
  readonly running: boolean;
  readonly done: readonly string[];
  readonly current: string;
  readonly left: readonly string[];
  readonly problem: string;
}

/** A model that gets more workers while its queue is long. `note`: why it has as many as it has. */
export interface ScaledModel {
  readonly model: string;
  readonly workers: number;
  readonly min: number;
  readonly max: number;
  readonly note: string;
}

/** What drains, restarts and is scaled. */
export interface LifeState {
  readonly draining: boolean;
  readonly reason: "admin" | "stopping" | null;
  readonly running: number;
  readonly restart: RestartProgress;
  readonly scaling: readonly ScaledModel[];
}

export class AdminClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  workers(): Promise<Answer<{ readonly workers: readonly WorkerRow[] }>> {
    return request(this.#fetch, "workers");
  }

  queue(): Promise<Answer<QueueState>> {
    return request(this.#fetch, "api/queue");
  }

  /** Samples newer than `since`, unix seconds. */
  metrics(since: number): Promise<Answer<MetricsHistory>> {
    return request(this.#fetch, `api/admin/figures?since=${since}`);
  }

  apps(): Promise<Answer<{ readonly apps: readonly AppRow[] }>> {
    return request(this.#fetch, "api/admin/apps");
  }

  switchApp(app: string, enabled: boolean): Promise<Answer<AppRow>> {
    return sendJson(this.#fetch, "PUT", `api/admin/apps/${encodeURIComponent(app)}`, { enabled });
  }

  life(): Promise<Answer<LifeState>> {
    return request(this.#fetch, "api/admin/life");
  }

  /** The server takes new work, or none until this is undone. */
  drain(on: boolean): Promise<Answer<LifeState>> {
    return sendJson(this.#fetch, on ? "POST" : "DELETE", "api/admin/drain");
  }

  drainWorker(worker: string, on: boolean): Promise<Answer<LifeState>> {
    return sendJson(this.#fetch, on ? "POST" : "DELETE", `api/admin/workers/${encodeURIComponent(worker)}/drain`);
  }

  restartAll(): Promise<Answer<LifeState>> {
    return sendJson(this.#fetch, "POST", "api/admin/restart", {});
  }

  restart(worker: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "POST", `api/admin/workers/${encodeURIComponent(worker)}/restart`);
  }
}
