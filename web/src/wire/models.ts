// The models of the server: which are loaded, which could be, and bringing more. Shapes and calls; knows no page.
import { EventParser } from "./transport/event_source";
import { type Answer, answerOf, ask, type Fetch, refusalOf, tell } from "./transport/http";

export interface LoadedModel {
  readonly name: string;
  readonly worker: string;
  readonly engine: string;
  readonly state: "ready" | "loading" | "failed" | "offline" | "stopping";
  readonly detail?: string;
  /** 0 to 1 while it loads; null where nothing can be measured. */
  readonly progress?: number | null;
  readonly slots?: number;
  readonly busy?: number;
  readonly context?: number;
  readonly size?: number;
  readonly removable?: boolean;
}

export interface HereModel {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly parameters?: number;
  readonly architecture?: string;
  readonly quantisation?: string;
  readonly trained_context?: number;
  readonly bundled?: boolean;
  /** Workers that serve it. */
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
  readonly here: readonly HereModel[];
  readonly unfinished: readonly { readonly name: string; readonly size: number }[];
  readonly available: readonly AvailableModel[];
  readonly downloads: readonly Download[];
}

export type ModelsEvent = { readonly type: "download"; readonly download: Download } | { readonly type: "loaded" } | { readonly type: "here" };

export interface LoadWish {
  readonly name: string;
  readonly context?: number;
  readonly slots?: number;
  readonly threads?: number;
  readonly gpu_layers?: number;
  readonly replace?: boolean;
  readonly another?: boolean;
  readonly force?: boolean;
}

interface LoadLine {
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
    return ask(this.#fetch, "api/models");
  }

  /** `told` hears how far it is, 0 to 1 or null, until the answer. */
  async load(wish: LoadWish, told: (progress: number | null) => void): Promise<Answer<null>> {
    try {
      const headers = { "Content-Type": "application/json" };
      const response = await this.#fetch("v1/model/load", { method: "POST", credentials: "same-origin", headers, body: JSON.stringify(wish) });
      if (!response.ok || !response.body) return answerOf(response.status, await response.text());
      return await outcomeOf(response.body, told);
    } catch {
      return { kind: "unreachable" };
    }
  }

  unload(worker: string): Promise<Answer<unknown>> {
    return tell(this.#fetch, "POST", "v1/model/unload", { worker });
  }

  download(what: string): Promise<Answer<Download>> {
    return tell(this.#fetch, "POST", "api/models/downloads", { what }, 30_000);
  }

  stop(download: string): Promise<Answer<unknown>> {
    return tell(this.#fetch, "DELETE", `api/models/downloads/${encodeURIComponent(download)}`);
  }

  remove(name: string): Promise<Answer<unknown>> {
    return tell(this.#fetch, "DELETE", `api/models/${encodeURIComponent(name)}`);
  }
}

/** The lines of a load until its last. */
async function outcomeOf(body: ReadableStream<Uint8Array>, told: (progress: number | null) => void): Promise<Answer<null>> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { kind: "unreachable" };
    for (const data of parser.feed(decoder.decode(value, { stream: true }))) {
      if (data === "[DONE]") continue;
      const line = JSON.parse(data) as LoadLine;
      if (line.error) return { kind: "refused", status: 400, ...refusalOf(400, data) };
      if (line.status === "finished") return { kind: "ok", value: null };
      told(line.progress ?? null);
    }
  }
}

const TYPES = new Set(["download", "loaded", "here"]);

/** Null for what this page does not know. */
export function readModelsEvent(data: string): ModelsEvent | null {
  try {
    const event: unknown = JSON.parse(data);
    if (typeof event !== "object" || event === null || !("type" in event)) return null;
    return TYPES.has(String(event.type)) ? (event as ModelsEvent) : null;
  } catch {
    return null;
  }
}
