// Model API: loaded, local and available models, downloads, loading. Types and client.
import { parseEvent } from "../json";
import { SseParser } from "../transport/event_stream";
import { type Answer, answerOf, errorBodyOf, type Fetch, type ProblemValues, request, sendJson } from "../transport/http";

export interface LoadedModel {
  readonly name: string;
  readonly title?: string;
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
  /** What it takes: "text", "image", "audio". */
  readonly modalities?: readonly string[];
  /** "chat", "embed" or "rerank". */
  readonly task?: string;
  /** It answers where no model is chosen. */
  readonly default?: boolean;
  /** The next start of the server loads it again. */
  readonly remembered?: boolean;
}

/** A model the server loads at its start that is not loaded; `failed` says why, or is empty. */
export interface RememberedModel {
  readonly name: string;
  readonly failed: string;
  readonly count?: number;
}

export interface LocalModel {
  readonly name: string;
  readonly title?: string;
  readonly fit?: Fit | null;
  /** Bytes. */
  readonly size: number;
  readonly parameters?: number;
  readonly architecture?: string;
  readonly quantisation?: string;
  readonly trained_context?: number;
  /** What it takes: "text", "image", "audio". */
  readonly modalities?: readonly string[];
  /** "chat", "embed" or "rerank". */
  readonly task?: string;
  readonly bundled?: boolean;
  /** Names of the workers that serve it. */
  readonly loaded?: readonly string[];
  readonly problem?: string;
}

export type Fit = "card" | "good" | "slow" | "memory" | "disk";

/** What a model is good for or needs. */
export type Trait =
  | "smallest"
  | "light"
  | "simple_tasks"
  | "small"
  | "recent"
  | "everyday"
  | "solid"
  | "follows_instructions"
  | "strong_for_its_size"
  | "quick_for_its_size"
  | "pace_of_small"
  | "all_rounder"
  | "many_languages"
  | "writes_well"
  | "careful"
  | "thorough"
  | "reasoning"
  | "code"
  | "like_larger"
  | "much_knowledge"
  | "very_capable"
  | "long_memory"
  | "large_cards"
  | "much_memory";

/** How many languages a model knows, or `more`; `named`: the main ones (BCP 47), where they are known. */
export interface ModelLanguages {
  readonly count: number;
  readonly more: boolean;
  readonly named: readonly string[];
}

export interface AvailableModel {
  readonly name: string;
  readonly title?: string;
  /** "2026-03". */
  readonly released?: string;
  readonly languages?: ModelLanguages | null;
  readonly repository?: string;
  readonly size: number;
  readonly parameters?: number;
  readonly context?: number;
  readonly abilities?: readonly string[];
  readonly licence?: string;
  readonly description?: string;
  /** The same in codes. */
  readonly traits?: readonly string[];
  /** Null where the machine cannot be inspected. */
  readonly fit: Fit | null;
  readonly here?: boolean;
}

export interface Download {
  readonly id: string;
  readonly name: string;
  readonly what: string;
  readonly state: "waiting" | "running" | "checking" | "loading" | "done" | "failed" | "stopped";
  readonly total: number;
  readonly done: number;
  /** Bytes a second. */
  readonly rate?: number;
  /** Seconds. */
  readonly left?: number | null;
  readonly error?: { readonly code: string; readonly message: string; readonly values?: ProblemValues } | null;
  /** It is loaded when it is complete, and becomes the default. */
  readonly use?: boolean;
  /** While it is loaded: 0 to 1; null if unknown. */
  readonly loading?: number | null;
}

/** Free bytes of memory, on the cards and on the disk of the models, and the cores. */
export interface HardwareRow {
  readonly memory: number;
  readonly card: number;
  readonly disk: number;
  readonly cores: number;
}

export interface ModelsOverview {
  readonly folder: string;
  readonly hardware: HardwareRow | null;
  /** The recommended model to propose. */
  readonly proposed?: string | null;
  readonly loaded: readonly LoadedModel[];
  readonly remembered?: readonly RememberedModel[];
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
  /** Make it the default once it is ready. */
  readonly default?: boolean;
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
  load(options: LoadRequest, onProgress: (progress: number | null) => void): Promise<Answer<null>> {
    return this.#load("v1/model/load", options, onProgress);
  }

  /** Loads a remembered model with its sizes. */
  retry(name: string, onProgress: (progress: number | null) => void): Promise<Answer<null>> {
    return this.#load(`api/models/remembered/${encodeURIComponent(name)}/retry`, {}, onProgress);
  }

  forget(name: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", `api/models/remembered/${encodeURIComponent(name)}`);
  }

  makeDefault(name: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "PUT", "api/models/default", { name });
  }

  async #load(address: string, body: object, onProgress: (progress: number | null) => void): Promise<Answer<null>> {
    try {
      const headers = { "Content-Type": "application/json" };
      const response = await this.#fetch(address, { method: "POST", credentials: "same-origin", headers, body: JSON.stringify(body) });
      if (!response.ok || !response.body) return answerOf(response.status, await response.text());
      return await outcomeOf(response.body, onProgress);
    } catch {
      return { kind: "unreachable" };
    }
  }

  /** Unloads a model with all its workers. */
  unload(name: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "POST", "v1/model/unload", { name });
  }

  /** `use`: load it when it is complete, and make it the default. */
  download(what: string, use = false): Promise<Answer<Download>> {
    return sendJson(this.#fetch, "POST", "api/models/downloads", { what, use }, 30_000);
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
