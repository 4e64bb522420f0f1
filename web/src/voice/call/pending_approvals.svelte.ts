// What only the person can answer in a call, until it is answered by a press, by voice or by nobody. Knows no line.
import type { Approval } from "../../wire/rows";

export class PendingApprovals {
  #open = $state.raw<readonly Approval[]>([]);

  /** The one to answer first. */
  get current(): Approval | null {
    return this.#open[0] ?? null;
  }

  add(approval: Approval): void {
    this.#open = [...this.#open.filter(({ id }) => id !== approval.id), approval];
  }

  remove(id: string): void {
    this.#open = this.#open.filter((approval) => approval.id !== id);
  }

  clear(): void {
    this.#open = [];
  }
}
