// How full the model's context is for the conversation on the page. Owns the last answer and debounces requests. No
// DOM.
import type { Clock } from "../wire/transport/clock";
import type { ContextFill, ConversationClient } from "../wire/chat/conversations";

/** Changes within this time (milliseconds) cause one request. */
const DEBOUNCE_MS = 500;
/** A warning is shown from this share of the context on. */
export const WARNING_SHARE = 0.8;

/** The branch in view; null if there is nothing to measure. */
export type Branch = { readonly conversation: string; readonly leaf: string | null } | null;

export class ContextUsage {
  readonly #client: Pick<ConversationClient, "context">;
  readonly #clock: Clock;
  readonly #branch: () => Branch;
  #fill = $state.raw<ContextFill | null>(null);
  #cancelTimer: (() => void) | null = null;
  #requestNumber = 0;

  constructor(client: Pick<ConversationClient, "context">, clock: Clock, branch: () => Branch) {
    this.#client = client;
    this.#clock = clock;
    this.#branch = branch;
  }

  /** Null before the first answer, and where the server does not know. */
  get fill(): ContextFill | null {
    return this.#fill;
  }

  /** 0 to 1. */
  get share(): number {
    const { tokens = 0, context = 0 } = this.#fill ?? {};
    return context > 0 ? Math.min(1, tokens / context) : 0;
  }

  get nearlyFull(): boolean {
    return this.share >= WARNING_SHARE;
  }

  /** Another conversation is on the page. */
  clear(): void {
    this.#requestNumber++;
    this.#fill = null;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  refreshSoon(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(DEBOUNCE_MS, () => {
      this.#cancelTimer = null;
      void this.#refresh();
    });
  }

  async #refresh(): Promise<void> {
    const branch = this.#branch();
    if (branch === null) return;
    const number = ++this.#requestNumber;
    const answer = await this.#client.context(branch.conversation, branch.leaf);
    if (number !== this.#requestNumber) return;
    // A failed request keeps the last known value.
    if (answer.kind === "ok") this.#fill = (answer.value?.context ?? 0) > 0 ? answer.value : null;
  }
}
