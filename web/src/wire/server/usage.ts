// What was used with each key, and what the key in use has left. Days are UTC, YYYY-MM-DD.
import { type Answer, type Fetch, request } from "../transport/http";
import type { AppliedLimits } from "./keys";

export interface UsageRow {
  readonly day: string;
  readonly key: string;
  readonly user: string;
  /** The user's name. */
  readonly name: string;
  /** How the key begins; empty for work without one. */
  readonly prefix: string;
  readonly model: string;
  readonly requests: number;
  readonly errors: number;
  readonly prompt_tokens: number;
  /** Of the prompt tokens. */
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  readonly sound_in_seconds: number;
  readonly sound_out_seconds: number;
}

export interface UsageReport {
  readonly from: string;
  readonly to: string;
  readonly rows: readonly UsageRow[];
}

interface Left {
  readonly left: number;
  /** Seconds until all of it is there again. */
  readonly reset: number;
}

type RateLimit = "requests_per_minute" | "tokens_per_minute" | "tokens_per_day";

export interface LimitStanding {
  readonly limits: AppliedLimits;
  readonly running: number;
  readonly left: { readonly [Name in RateLimit]?: Left };
}

export class UsageClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** By day, key and model. */
  report(from: string, to: string): Promise<Answer<UsageReport>> {
    return request(this.#fetch, `api/usage?from=${from}&to=${to}`);
  }

  limits(): Promise<Answer<LimitStanding>> {
    return request(this.#fetch, "api/usage/limits");
  }
}

/** The address of the same as a file for spreadsheets. */
export function csvAddress(from: string, to: string): string {
  return `api/usage?from=${from}&to=${to}&group=day,key,model,kind&format=csv`;
}
