// What tool servers offer people: prompts to begin with and resources to attach. Knows no page.
import { type Answer, ask, type Fetch, tell } from "./transport/http";
import type { Content } from "./rows";

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
}

export interface Resource {
  readonly uri: string;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly mime?: string;
  /** Bytes; absent where unknown. */
  readonly size?: number;
}

/** A pattern of addresses, with {names} in braces. */
export interface ResourceTemplate {
  readonly template: string;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
}

export interface ServerPrompts {
  readonly server: string;
  readonly prompts: readonly Prompt[];
}

export interface ServerResources {
  readonly server: string;
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
}

export interface FilledPrompt {
  readonly description: string;
  readonly messages: readonly { readonly role: string; readonly text: string }[];
}

/** What an argument may be is asked of. */
export interface Completing {
  readonly server: string;
  readonly kind: "prompt" | "resource";
  readonly name: string;
  readonly argument: string;
  readonly value: string;
  /** The other arguments so far. */
  readonly context: Readonly<Record<string, string>>;
}

type Arguments = Readonly<Record<string, string>>;

// A tool server may have to be started first.
const STARTING = 60_000;

export class OfferClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  async prompts(): Promise<Answer<readonly ServerPrompts[]>> {
    const answer = await ask<{ readonly servers: readonly ServerPrompts[] }>(this.#fetch, "api/mcp/prompts", { signal: AbortSignal.timeout(STARTING) });
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.servers } : answer;
  }

  async resources(): Promise<Answer<readonly ServerResources[]>> {
    const answer = await ask<{ readonly servers: readonly ServerResources[] }>(this.#fetch, "api/mcp/resources", { signal: AbortSignal.timeout(STARTING) });
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.servers } : answer;
  }

  fill(server: string, name: string, given: Arguments): Promise<Answer<FilledPrompt>> {
    return tell(this.#fetch, "POST", "api/mcp/prompts/get", { server, name, arguments: given }, STARTING);
  }

  async read(server: string, uri: string): Promise<Answer<readonly Content[]>> {
    const answer = await tell<{ readonly content: readonly Content[] }>(this.#fetch, "POST", "api/mcp/resources/read", { server, uri }, STARTING);
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.content } : answer;
  }

  /** None where the server knows none. */
  async complete(asked: Completing): Promise<readonly string[]> {
    const answer = await tell<{ readonly values: readonly string[] }>(this.#fetch, "POST", "api/mcp/complete", asked);
    return answer.kind === "ok" ? answer.value.values : [];
  }
}
