// The browsers that are signed in: one's own, or everyone's for admins. No DOM.
import { type Answer, problemOf } from "../wire/transport/http";
import type { LoginClient, LoginRow } from "../wire/server/logins";

export class Logins {
  readonly #client: Pick<LoginClient, "list" | "end" | "endOthers">;
  #all = $state.raw<readonly LoginRow[]>([]);
  #everyone = $state(false);
  #loaded = $state(false);
  #problem = $state("");
  #busy = $state(false);

  constructor(client: Pick<LoginClient, "list" | "end" | "endOthers">) {
    this.#client = client;
  }

  /** This browser first, then the last used. */
  get all(): readonly LoginRow[] {
    return this.#all;
  }

  /** Whether those of every user are shown. */
  get everyone(): boolean {
    return this.#everyone;
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

  async load(): Promise<void> {
    const answer = await this.#client.list(this.#everyone);
    if (answer.kind !== "ok") return void (this.#problem = problemOf(answer));
    this.#all = [...answer.value.logins].sort((one, other) => Number(other.current) - Number(one.current));
    this.#loaded = true;
  }

  async show(everyone: boolean): Promise<void> {
    this.#everyone = everyone;
    this.#problem = "";
    await this.load();
  }

  end(id: string): Promise<boolean> {
    return this.#run(() => this.#client.end(id));
  }

  endOthers(): Promise<boolean> {
    return this.#run(() => this.#client.endOthers());
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
