// The audit log on the admin screen: rows page by page, by who acted and what was done. No DOM.
import type { AuditClient, AuditFilter, AuditRow } from "../wire/server/audit";
import { problemOf } from "../wire/transport/http";

const PAGE = 30;
const DETAIL = 60;

export class AuditLog {
  readonly #client: Pick<AuditClient, "page">;
  #rows = $state.raw<readonly AuditRow[]>([]);
  #next = $state<number | null>(null);
  #filter = $state.raw<AuditFilter>({ actor: "", act: "" });
  #names = $state.raw<readonly string[]>([]);
  #loaded = $state(false);
  #problem = $state("");
  /** Number of the current question: an answer to an earlier one is dropped. */
  #question = 0;

  constructor(client: Pick<AuditClient, "page">) {
    this.#client = client;
  }

  /** The newest first. */
  get rows(): readonly AuditRow[] {
    return this.#rows;
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  get filter(): AuditFilter {
    return this.#filter;
  }

  /** Everyone seen so far who acted. */
  get names(): readonly string[] {
    return this.#names;
  }

  get loaded(): boolean {
    return this.#loaded;
  }

  get problem(): string {
    return this.#problem;
  }

  load(): Promise<void> {
    return this.#ask(0);
  }

  /** Only these rows, from the newest. */
  async show(filter: Partial<AuditFilter>): Promise<void> {
    this.#filter = { ...this.#filter, ...filter };
    await this.#ask(0);
  }

  async loadOlder(): Promise<void> {
    if (this.#next !== null) await this.#ask(this.#next);
  }

  async #ask(before: number): Promise<void> {
    const question = ++this.#question;
    const answer = await this.#client.page(this.#filter, before, PAGE);
    if (question !== this.#question) return;
    this.#problem = problemOf(answer);
    if (answer.kind !== "ok") return;
    const { rows, next } = answer.value;
    this.#rows = before === 0 ? rows : [...this.#rows, ...rows];
    this.#next = next;
    this.#names = [...new Set([...this.#names, ...rows.map(({ name }) => name)])].sort((one, other) => one.localeCompare(other));
    this.#loaded = true;
  }
}

/** The details of a row in one line, such as `role: admin, disabled: true`. */
export function detailText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${name === "expires" && typeof value === "number" ? dayOf(value) : shortened(typeof value === "string" ? value : JSON.stringify(value))}`)
    .join(", ");
}

/** When a key ends; 0 is never. */
function dayOf(moment: number): string {
  return moment === 0 ? "never" : new Date(moment).toISOString().slice(0, 10);
}

function shortened(text: string): string {
  return text.length > DETAIL ? `${text.slice(0, DETAIL)}…` : text;
}
