// What was begun to be written, as the server keeps it for every device. Knows no page.
import { type Answer, ask, type Fetch, tell } from "./transport/http";

export interface KeptDraft {
  readonly text: string;
  readonly files: readonly unknown[];
  /** The server's time, milliseconds since 1970; absent where there is none. */
  readonly updated?: number;
}

/** The conversation that is not begun. */
export const NEW = "new";

export class DraftClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** An empty object where there is none. */
  read(conversation: string): Promise<Answer<Partial<KeptDraft>>> {
    return ask(this.#fetch, this.#at(conversation));
  }

  /** `leaving`: the page goes away, and this has to outlive it. */
  put(conversation: string, draft: KeptDraft, leaving = false): Promise<Answer<KeptDraft>> {
    if (!leaving) return tell(this.#fetch, "PUT", this.#at(conversation), draft);
    return ask(this.#fetch, this.#at(conversation), {
      method: "PUT",
      keepalive: true,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(draft),
    });
  }

  drop(conversation: string, leaving = false): Promise<Answer<null>> {
    return ask(this.#fetch, this.#at(conversation), { method: "DELETE", ...(leaving ? { keepalive: true } : {}) });
  }

  #at(conversation: string): string {
    return `api/drafts/${conversation}`;
  }
}
