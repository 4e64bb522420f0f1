// What was used with the keys that the user may see, and what their own has left. No DOM.
import { problemOf } from "../wire/transport/http";
import type { LimitStanding, UsageClient, UsageRow } from "../wire/server/usage";
import { dayOf, lastDays } from "./usage_report";

export const SPANS = [7, 30, 90] as const;
export type Span = (typeof SPANS)[number];

export class Usage {
  readonly #client: Pick<UsageClient, "report" | "limits">;
  readonly #now: () => number;
  #span = $state<Span>(30);
  #days = $state.raw<readonly string[]>([]);
  #rows = $state.raw<readonly UsageRow[]>([]);
  #standing = $state.raw<LimitStanding | null>(null);
  #problem = $state("");
  #loaded = $state(false);
  #asked = 0;

  constructor(client: Pick<UsageClient, "report" | "limits">, now: () => number = Date.now) {
    this.#client = client;
    this.#now = now;
  }

  get span(): Span {
    return this.#span;
  }

  /** The days that are shown, in order; the last of them is today. */
  get days(): readonly string[] {
    return this.#days;
  }

  get rows(): readonly UsageRow[] {
    return this.#rows;
  }

  get standing(): LimitStanding | null {
    return this.#standing;
  }

  get problem(): string {
    return this.#problem;
  }

  get loaded(): boolean {
    return this.#loaded;
  }

  show(span: Span): Promise<void> {
    this.#span = span;
    return this.load();
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    const days = lastDays(dayOf(this.#now()), this.#span);
    const [report, standing] = await Promise.all([this.#client.report(days[0]!, days.at(-1)!), this.#client.limits()]);
    // Another span was chosen meanwhile.
    if (asked !== this.#asked) return;
    const failed = report.kind !== "ok" ? report : standing.kind !== "ok" ? standing : null;
    this.#problem = failed === null ? "" : problemOf(failed);
    if (report.kind === "ok") [this.#days, this.#rows, this.#loaded] = [days, report.value.rows, true];
    if (standing.kind === "ok") this.#standing = standing.value;
  }
}
