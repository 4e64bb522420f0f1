// API keys and user accounts, for admins. Times in milliseconds since 1970, 0 is never.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

/** What a key may do; that of a worker lets workers on other machines join, and its user has no other role. */
export type Role = "user" | "admin" | "worker";

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly created: number;
  /** When the account was disabled. */
  readonly disabled: number;
}

/** Limits that were set for a key: null or absent is the server's default, 0 and an empty list are no limit. */
export interface KeyLimits {
  readonly concurrent?: number | null;
  readonly requests_per_minute?: number | null;
  readonly tokens_per_minute?: number | null;
  readonly tokens_per_day?: number | null;
  readonly models?: readonly string[] | null;
  readonly weight?: number | null;
}

/** The limits that apply. */
export type AppliedLimits = { readonly [Name in keyof KeyLimits]-?: NonNullable<KeyLimits[Name]> };

/** An API key without its secret. */
export interface Key {
  readonly id: string;
  /** The account's id. */
  readonly user: string;
  readonly prefix: string;
  /** What its user calls it. */
  readonly label: string;
  readonly created: number;
  readonly expires: number;
  readonly last_used: number;
  readonly revoked: number;
  readonly limits: KeyLimits;
}

export interface KeyList {
  readonly keys: readonly Key[];
  readonly users: readonly Account[];
  /** Of users' keys; those of admins have none by default. */
  readonly default_limits: AppliedLimits;
}

/** `key` is the secret, returned only once. */
export interface NewKey extends Key {
  readonly key: string;
  readonly name: string;
  readonly role: Role;
}

export interface UserChanges {
  readonly role?: Role;
  readonly disabled?: boolean;
  readonly new_name?: string;
}

export class KeyClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  list(): Promise<Answer<KeyList>> {
    return request(this.#fetch, "api/keys");
  }

  /** Creates the user if needed. `expires`: 0 for never. */
  create(name: string, role: Role | "worker", label = "", expires = 0): Promise<Answer<NewKey>> {
    return sendJson(this.#fetch, "POST", "api/keys", { name, role, label, expires });
  }

  /** Gives a key a new secret; its id, label and end stay. */
  reset(id: string): Promise<Answer<NewKey>> {
    return sendJson(this.#fetch, "POST", `api/keys/${encodeURIComponent(id)}/reset`);
  }

  limit(id: string, limits: KeyLimits): Promise<Answer<Key>> {
    return sendJson(this.#fetch, "PATCH", `api/keys/${encodeURIComponent(id)}`, limits);
  }

  revoke(id: string): Promise<Answer<null>> {
    return sendJson(this.#fetch, "DELETE", `api/keys/${encodeURIComponent(id)}`);
  }

  changeUser(name: string, changes: UserChanges): Promise<Answer<Account>> {
    return sendJson(this.#fetch, "PATCH", `api/keys/users/${encodeURIComponent(name)}`, changes);
  }

  /** Ends the sign-ins of a user in every browser. */
  signOut(name: string): Promise<Answer<{ readonly ended: number }>> {
    return sendJson(this.#fetch, "DELETE", `api/keys/users/${encodeURIComponent(name)}/logins`);
  }
}
