// The audit log, for admins. Times in milliseconds since 1970.
import { type Answer, type Fetch, request } from "../transport/http";

export type Outcome = "done" | "refused" | "failed";

export interface AuditRow {
  readonly number: number;
  readonly at: number;
  /** The name of who acted, such as a user's or `command line`. */
  readonly name: string;
  readonly user: string;
  /** The id of the key. */
  readonly key: string;
  readonly act: string;
  readonly target: string;
  readonly outcome: Outcome;
  readonly address: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AuditFilter {
  /** A name, or empty for all. */
  readonly actor: string;
  /** An act, or the beginning of several with a dot at its end, or empty for all. */
  readonly act: string;
}

export interface AuditPage {
  readonly rows: readonly AuditRow[];
  /** For the next page; null at the end. */
  readonly next: number | null;
}

export class AuditClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** Rows of before this number, 0 for the newest. */
  page(filter: AuditFilter, before: number, limit: number): Promise<Answer<AuditPage>> {
    return request(this.#fetch, `api/admin/audit?${parameters(filter)}&before=${before}&limit=${limit}`);
  }
}

/** Where the rows are as CSV. */
export function csvAddress(filter: AuditFilter): string {
  return `api/admin/audit?${parameters(filter)}&limit=1000&format=csv`;
}

function parameters({ actor, act }: AuditFilter): string {
  return new URLSearchParams({ actor, act }).toString();
}
