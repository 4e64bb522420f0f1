// The people who may come in and their keys, as an admin sees and changes them. Knows no DOM.
import { type Answer, problemOf } from "../wire/transport/http";
import type { Account, Key, KeyClient, NewKey, Role } from "../wire/keys";

export interface Person {
  readonly account: Account;
  /** Those that are valid, the newest first. */
  readonly keys: readonly Key[];
}

type Asking = Pick<KeyClient, "list" | "make" | "revoke" | "changeUser">;

export class People {
  readonly #client: Asking;
  #all = $state.raw<readonly Person[]>([]);
  #known = $state(false);
  #problem = $state("");
  #made = $state.raw<NewKey | null>(null);
  #busy = $state(false);

  constructor(client: Asking) {
    this.#client = client;
  }

  get all(): readonly Person[] {
    return this.#all;
  }

  /** The server has said who there is. */
  get known(): boolean {
    return this.#known;
  }

  /** Why the last thing did not work. */
  get problem(): string {
    return this.#problem;
  }

  get busy(): boolean {
    return this.#busy;
  }

  /** A key that was just made, and is shown this once. */
  get made(): NewKey | null {
    return this.#made;
  }

  forgetMade(): void {
    this.#made = null;
  }

  async load(): Promise<void> {
    const answer = await this.#client.list();
    if (answer.kind !== "ok") return void (this.#problem = problemOf(answer));
    const { keys, users } = answer.value;
    const valid = keys.filter(({ revoked }) => revoked === 0).sort((one, other) => other.created - one.created);
    this.#all = users.map((account) => ({ account, keys: valid.filter(({ user }) => user === account.id) })).sort((one, other) => one.account.name.localeCompare(other.account.name));
    this.#known = true;
  }

  async make(name: string, role: Role): Promise<boolean> {
    return this.#doing(async () => {
      const answer = await this.#client.make(name.trim(), role);
      if (answer.kind === "ok") this.#made = answer.value;
      return answer;
    });
  }

  revoke(id: string): Promise<boolean> {
    return this.#doing(() => this.#client.revoke(id));
  }

  change(name: string, changes: { readonly role?: Role; readonly disabled?: boolean }): Promise<boolean> {
    return this.#doing(() => this.#client.changeUser(name, changes));
  }

  async #doing(act: () => Promise<Answer<unknown>>): Promise<boolean> {
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
