// Keys and the people they belong to: for admins. Times in milliseconds since 1970, 0 is never. Knows no page.
import { type Answer, ask, type Fetch, tell } from "./transport/http";

export type Role = "user" | "admin";

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly created: number;
  /** Since when nobody comes in as them. */
  readonly disabled: number;
}

/** A key without its value. */
export interface Key {
  readonly id: string;
  /** The account's id. */
  readonly user: string;
  readonly prefix: string;
  readonly created: number;
  readonly last_used: number;
  readonly revoked: number;
}

export interface Register {
  readonly keys: readonly Key[];
  readonly users: readonly Account[];
}

/** `key` is the key itself, told this once. */
export interface NewKey extends Key {
  readonly key: string;
  readonly name: string;
  readonly role: Role;
}

export class KeyClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  list(): Promise<Answer<Register>> {
    return ask(this.#fetch, "api/keys");
  }

  /** A user who is not there yet is made. */
  make(name: string, role: Role): Promise<Answer<NewKey>> {
    return tell(this.#fetch, "POST", "api/keys", { name, role });
  }

  revoke(id: string): Promise<Answer<null>> {
    return tell(this.#fetch, "DELETE", `api/keys/${encodeURIComponent(id)}`);
  }

  changeUser(name: string, changes: { readonly role?: Role; readonly disabled?: boolean }): Promise<Answer<Account>> {
    return tell(this.#fetch, "PATCH", `api/keys/users/${encodeURIComponent(name)}`, changes);
  }
}
