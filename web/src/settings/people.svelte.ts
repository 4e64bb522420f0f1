// User accounts and their API keys, for admins. No DOM.
import { type Answer, problemOf } from "../wire/transport/http";
import type { Account, AppliedLimits, Key, KeyClient, KeyLimits, NewKey, Role, UserChanges } from "../wire/server/keys";
import { UNLIMITED } from "../usage/key_limits";

export interface Person {
  readonly account: Account;
  /** Valid keys, newest first. */
  readonly keys: readonly Key[];
}

type PeopleClient = Pick<KeyClient, "list" | "create" | "reset" | "revoke" | "changeUser" | "signOut" | "limit">;

export class People {
  readonly #client: PeopleClient;
  #all = $state.raw<readonly Person[]>([]);
  #defaults = $state.raw<AppliedLimits>(UNLIMITED);
  #loaded = $state(false);
  #problem = $state("");
  #newKey = $state.raw<NewKey | null>(null);
  #busy = $state(false);

  constructor(client: PeopleClient) {
    this.#client = client;
  }

  get all(): readonly Person[] {
    return this.#all;
  }

  /** The limits of a key for which none were set. */
  defaultsOf({ role }: Account): AppliedLimits {
    return role === "admin" ? UNLIMITED : this.#defaults;
  }

  /** Loaded at least once. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Why the last command failed; empty if it did not. */
  get problem(): string {
    return this.#problem;
  }

  get busy(): boolean {
    return this.#busy;
  }

  /** The key just created, whose secret is shown only now. */
  get newKey(): NewKey | null {
    return this.#newKey;
  }

  dismissNewKey(): void {
    this.#newKey = null;
  }

  async load(): Promise<void> {
    const answer = await this.#client.list();
    if (answer.kind !== "ok") return void (this.#problem = problemOf(answer));
    const { keys, users, default_limits } = answer.value;
    this.#defaults = default_limits;
    const valid = keys.filter(({ revoked }) => revoked === 0).sort((one, other) => other.created - one.created);
    this.#all = users.map((account) => ({ account, keys: valid.filter(({ user }) => user === account.id) })).sort((one, other) => one.account.name.localeCompare(other.account.name));
    this.#loaded = true;
  }

  /** `expires`: milliseconds since 1970, 0 for never. */
  create(name: string, role: Role, label = "", expires = 0): Promise<boolean> {
    return this.#run(async () => this.#shown(await this.#client.create(name.trim(), role, label.trim(), expires)));
  }

  /** The key has a new secret then, which is shown as that of a new one is. */
  reset(id: string): Promise<boolean> {
    return this.#run(async () => this.#shown(await this.#client.reset(id)));
  }

  /** How many browsers the user was signed in with; null if it failed. */
  async signOut(name: string): Promise<number | null> {
    let ended: number | null = null;
    await this.#run(async () => {
      const answer = await this.#client.signOut(name);
      if (answer.kind === "ok") ended = answer.value.ended;
      return answer;
    });
    return ended;
  }

  revoke(id: string): Promise<boolean> {
    return this.#run(() => this.#client.revoke(id));
  }

  limit(id: string, limits: KeyLimits): Promise<boolean> {
    return this.#run(() => this.#client.limit(id, limits));
  }

  change(name: string, changes: UserChanges): Promise<boolean> {
    return this.#run(() => this.#client.changeUser(name, changes));
  }

  #shown(answer: Answer<NewKey>): Answer<NewKey> {
    if (answer.kind === "ok") this.#newKey = answer.value;
    return answer;
  }

  async #run(act: () => Promise<Answer<unknown>>): Promise<boolean> {
    if (this.#busy) return false;
    this.#busy = true;
    this.#problem = "";
    const answer = await act();
    await this.load();
    if (answer.kind !== "ok") this.#problem = problemOf(answer);
    this.#busy = false;
    return answer.kind === "ok";
  }
}
