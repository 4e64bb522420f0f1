// What each key used today (UTC), for the list of keys. No DOM.
import type { UsageClient } from "../wire/server/usage";
import { added, dayOf, total, type UsageSum } from "./usage_report";

export class UsageToday {
  readonly #client: Pick<UsageClient, "report">;
  readonly #now: () => number;
  #sums = $state.raw<ReadonlyMap<string, UsageSum> | null>(null);

  constructor(client: Pick<UsageClient, "report">, now: () => number = Date.now) {
    this.#client = client;
    this.#now = now;
  }

  /** Null while that is not known. */
  of(key: string): UsageSum | null {
    return this.#sums && (this.#sums.get(key) ?? total([]));
  }

  async load(): Promise<void> {
    const today = dayOf(this.#now());
    const answer = await this.#client.report(today, today);
    // The list is complete without it.
    if (answer.kind !== "ok") return;
    const sums = new Map<string, UsageSum>();
    for (const row of answer.value.rows) sums.set(row.key, added(sums.get(row.key) ?? total([]), row));
    this.#sums = sums;
  }
}
