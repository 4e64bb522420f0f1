// Drafts stored on the server for every device of a user.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

export interface StoredDraft {
  readonly text: string;
  readonly files: readonly unknown[];
  /** Server time, milliseconds since 1970; absent where there is no draft. */
  readonly updated?: number;
}

/** Stands for the conversation that does not exist yet. */
export const NEW_CONVERSATION = "new";

export class DraftClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** An empty object when there is no draft. */
  read(conversation: string): Promise<Answer<Partial<StoredDraft>>> {
    return request(this.#fetch, this.#at(conversation));
  }

  /** `leaving`: uses a keepalive request, which survives the page. */
  put(conversation: string, draft: StoredDraft, leaving = false): Promise<Answer<StoredDraft>> {
    if (!leaving) return sendJson(this.#fetch, "PUT", this.#at(conversation), draft);
    return request(this.#fetch, this.#at(conversation), {
      method: "PUT",
      keepalive: true,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(draft),
    });
  }

  drop(conversation: string, leaving = false): Promise<Answer<null>> {
    return request(this.#fetch, this.#at(conversation), { method: "DELETE", ...(leaving ? { keepalive: true } : {}) });
  }

  #at(conversation: string): string {
    return `api/drafts/${conversation}`;
  }
}
