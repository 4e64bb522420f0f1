// How full the context of the conversation on the page is: asked for when something changed, never more often than it
// can be read. Owns the last answer. Knows no DOM.
import type { Clock } from "../wire/transport/clock";
import type { ContextFill, ConversationClient } from "../wire/conversations";

/** Changes that come together are asked about once, milliseconds. */
const DEBOUNCE_MS = 500;
/** From this share of the context on it is worth a warning. */
export const WARNING_SHARE = 0.8;

/** Which branch of which conversation; null where there is nothing to ask about. */
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

  /** Null until the server has said it, and where it cannot. */
  get fill(): ContextFill | null {
    return this.#fill;
  }

  /** From 0 to 1. */
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
    // What was known stays while the server is away.
    if (answer.kind === "ok") this.#fill = (answer.value?.context ?? 0) > 0 ? answer.value : null;
  }
}
