// Model API: loaded, local and available models, downloads, loading. Types and client.
import { parseEvent } from "./json";
import { SseParser } from "./transport/event_stream";
import { type Answer, answerOf, errorBodyOf, type Fetch, request, sendJson } from "./transport/http";

export interface LoadedModel {
  readonly name: string;
  readonly worker: string;
  readonly engine: string;
  readonly state: "ready" | "loading" | "failed" | "offline" | "stopping";
  readonly detail?: string;
  /** 0 to 1 while loading; null if unknown. */
  readonly progress?: number | null;
  readonly slots?: number;
  readonly busy?: number;
  readonly context?: number;
  readonly size?: number;
  readonly removable?: boolean;
}

export interface LocalModel {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly parameters?: number;
  readonly architecture?: string;
  readonly quantisation?: string;
  readonly trained_context?: number;
  readonly bundled?: boolean;
  /** Names of the workers that serve it. */
  readonly loaded?: readonly string[];
  readonly problem?: string;
}

export type Fit = "card" | "good" | "slow" | "memory" | "disk";

export interface AvailableModel {
  readonly name: string;
  readonly repository?: string;
  readonly size: number;
  readonly parameters?: number;
  readonly context?: number;
  readonly abilities?: readonly string[];
  readonly licence?: string;
  readonly description?: string;
  readonly fit: Fit;
  readonly here?: boolean;
}

export interface Download {
  readonly id: string;
  readonly name: string;
  readonly what: string;
  readonly state: "waiting" | "running" | "checking" | "done" | "failed" | "stopped";
  readonly total: number;
  readonly done: number;
  /** Bytes a second. */
  readonly rate?: number;
  /** Seconds. */
  readonly left?: number | null;
  readonly error?: { readonly code: string; readonly message: string } | null;
}

export interface ModelsOverview {
  readonly folder: string;
  readonly hardware: { readonly words?: string };
  readonly engines?: readonly { readonly kind: string; readonly engine: string; readonly better?: string }[];
  readonly loaded: readonly LoadedModel[];
  readonly here: readonly LocalModel[];
  readonly unfinished: readonly { readonly name: string; readonly size: number }[];
  readonly available: readonly AvailableModel[];
  readonly downloads: readonly Download[];
}

export type ModelsEvent = { readonly type: "download"; readonly download: Download } | { readonly type: "loaded" } | { readonly type: "here" };

export interface LoadRequest {
  readonly name: string;
  readonly context?: number;
  readonly slots?: number;
  readonly threads?: number;
  readonly gpu_layers?: number;
  readonly replace?: boolean;
  readonly another?: boolean;
  readonly force?: boolean;
}

interface LoadEvent {
  readonly status?: "processing" | "finished" | "failed";
  readonly progress?: number | null;
  readonly stage?: string;
  readonly error?: unknown;
}

export class ModelsClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  overview(): Promise<Answer<ModelsOverview>> {
    return request(this.#fetch, "api/models");
  }

  /** Loads a model. `onProgress` receives 0 to 1, or null if unknown, until the answer. */
  async load(options: LoadRequest, onProgress: (progress: number | null) => void): Promise<Answer<null>> {
    try {
      const headers = { "Content-Type": "application/json" };
      const response = await this.#fetch("v1/model/load", { method: "POST", credentials: "same-origin", headers, body: JSON.stringify(options) });
      if (!response.ok || !response.body) return answerOf(response.status, await response.text());
      return await outcomeOf(response.body, onProgress);
    } catch {
      return { kind: "unreachable" };
    }
  }

  unload(worker: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "POST", "v1/model/unload", { worker });
  }

  download(what: string): Promise<Answer<Download>> {
    return sendJson(this.#fetch, "POST", "api/models/downloads", { what }, 30_000);
  }

  stop(download: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", `api/models/downloads/${encodeURIComponent(download)}`);
  }

  remove(name: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", `api/models/${encodeURIComponent(name)}`);
  }
}

/** Reads progress events until the load finished or failed. */
async function outcomeOf(body: ReadableStream<Uint8Array>, onProgress: (progress: number | null) => void): Promise<Answer<null>> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { kind: "unreachable" };
    for (const data of parser.feed(decoder.decode(value, { stream: true }))) {
      if (data === "[DONE]") continue;
      const line = JSON.parse(data) as LoadEvent;
      if (line.error) return { kind: "refused", status: 400, ...errorBodyOf(400, data) };
      if (line.status === "finished") return { kind: "ok", value: null };
      onProgress(line.progress ?? null);
    }
  }
}

const TYPES = new Set(["download", "loaded", "here"]);

/** Null for an event type this page does not know. */
export function readModelsEvent(data: string): ModelsEvent | null {
  return parseEvent<ModelsEvent>(data, TYPES);
}
