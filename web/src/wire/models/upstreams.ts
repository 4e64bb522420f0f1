// Model servers: connected ones, services and servers found on this machine, and tests of an address. Types and client.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

/** A connection waits for the server's list of models, a test for a reply too. */
const CONNECT_MS = 30_000;
const TEST_MS = 130_000;

/** What a model can take besides text. */
export type MediaKind = "image" | "audio" | "video";

/** The limits of a server's silence, in seconds, that an admin can set; absent: the server's defaults. */
export type Timeout = "first_timeout" | "idle_timeout";

/** What is known of a model of a server; null where nothing is. */
export interface UpstreamModel {
  readonly name: string;
  readonly context: number | null;
  readonly tools: boolean | null;
  /** What it takes: "text", "image", "audio", "video". */
  readonly modalities: readonly string[] | null;
  /** What it gives: "text", and "audio" if it speaks. */
  readonly outputs: readonly string[];
}

export interface UpstreamProblem {
  readonly code: string;
  readonly message: string;
  /** What is wrong at the server itself, and its own words about that; absent for other problems. */
  readonly reason?: string;
  readonly detail?: string;
}

export interface Upstream {
  readonly name: string;
  readonly kind: string;
  readonly title: string;
  readonly url: string;
  readonly has_key: boolean;
  /** The models in use; null: all. */
  readonly chosen: readonly string[] | null;
  /** What an admin said that models take, by name; of the others the server is asked. */
  readonly modalities: Readonly<Record<string, readonly MediaKind[]>>;
  /** What an admin said that models give besides text. */
  readonly outputs: Readonly<Record<string, readonly "audio"[]>>;
  /** How long it is waited for, as an admin said; what is absent is the default. */
  readonly timeouts: Readonly<Partial<Record<Timeout | "connect_timeout" | "retries", number>>>;
  readonly enabled: boolean;
  readonly state: "off" | "waiting" | "ready" | "problem";
  readonly problem: UpstreamProblem | null;
  readonly models: readonly UpstreamModel[];
  /** The names of all its models. */
  readonly offered: readonly string[];
}

export interface Provider {
  readonly kind: string;
  readonly title: string;
  readonly url: string;
  /** The page where its keys are made. */
  readonly keys: string;
}

export interface FoundServer {
  readonly kind: string;
  readonly title: string;
  readonly url: string;
  readonly models: readonly string[];
  readonly needs_key: boolean;
  /** The name under which it is connected already. */
  readonly connected: string | null;
}

export interface UpstreamTest {
  readonly kind: string;
  readonly models: readonly UpstreamModel[];
  readonly asked: string | null;
  readonly reply: string;
  readonly problem: UpstreamProblem | null;
}

export interface NewUpstream {
  readonly url: string;
  readonly kind?: string;
  readonly key?: string;
}

export interface UpstreamChange {
  readonly url?: string;
  readonly key?: string;
  readonly models?: readonly string[] | null;
  readonly modalities?: Upstream["modalities"];
  readonly outputs?: Upstream["outputs"];
  readonly timeouts?: Upstream["timeouts"];
  readonly enabled?: boolean;
}

export interface UpstreamList {
  readonly upstreams: readonly Upstream[];
  readonly providers: readonly Provider[];
}

export class UpstreamsClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  list(): Promise<Answer<UpstreamList>> {
    return request(this.#fetch, "api/upstreams");
  }

  discover(): Promise<Answer<{ readonly found: readonly FoundServer[] }>> {
    return request(this.#fetch, "api/upstreams/discovered");
  }

  connect(upstream: NewUpstream): Promise<Answer<Upstream>> {
    return sendJson(this.#fetch, "POST", "api/upstreams", upstream, CONNECT_MS);
  }

  change(name: string, change: UpstreamChange): Promise<Answer<Upstream>> {
    return sendJson(this.#fetch, "PATCH", addressOf(name), change, CONNECT_MS);
  }

  remove(name: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", addressOf(name));
  }

  /** `name`: a connected server whose stored key is used. */
  test(upstream: NewUpstream & { readonly name?: string }): Promise<Answer<UpstreamTest>> {
    return sendJson(this.#fetch, "POST", "api/upstreams/test", upstream, TEST_MS);
  }
}

const addressOf = (name: string) => `api/upstreams/${encodeURIComponent(name)}`;
