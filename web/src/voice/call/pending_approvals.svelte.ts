// Approvals of a call that wait for the user, until answered here, by voice, or expired.
import type { Approval } from "../../wire/chat/rows";

export class PendingApprovals {
  #open = $state.raw<readonly Approval[]>([]);

  /** The oldest one. */
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
