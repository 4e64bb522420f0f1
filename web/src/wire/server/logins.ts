// The browsers that are signed in. Times in milliseconds since 1970.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

export interface LoginRow {
  readonly id: string;
  /** The account's id and name. */
  readonly user: string;
  readonly name: string;
  readonly created: number;
  readonly expires: number;
  readonly last_seen: number;
  /** An IPv4 address or an IPv6 network; empty if unknown. */
  readonly address: string;
  /** Such as `Firefox, Linux`; empty if unknown. */
  readonly agent: string;
  /** The browser that asks. */
  readonly current: boolean;
}

export class LoginClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** Everyone's is for admins. */
  list(everyone: boolean): Promise<Answer<{ readonly logins: readonly LoginRow[] }>> {
    return request(this.#fetch, `api/session/logins${everyone ? "?everyone=true" : ""}`);
  }

  end(id: string): Promise<Answer<null>> {
    return sendJson(this.#fetch, "DELETE", `api/session/logins/${encodeURIComponent(id)}`);
  }

  endOthers(): Promise<Answer<{ readonly ended: number }>> {
    return sendJson(this.#fetch, "DELETE", "api/session/logins");
  }
}
