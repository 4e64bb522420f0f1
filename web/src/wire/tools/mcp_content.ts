// Prompts and resources of tool servers (MCP).
import { type Answer, type Fetch, request, sendJson } from "../transport/http";
import type { Content } from "../chat/rows";

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

/** A URI template, with {names} in braces. */
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

/** Asks a server to complete one argument of a prompt or template. */
export interface CompletionRequest {
  readonly server: string;
  readonly kind: "prompt" | "resource";
  readonly name: string;
  readonly argument: string;
  readonly value: string;
  /** The other arguments entered so far. */
  readonly context: Readonly<Record<string, string>>;
}

type Arguments = Readonly<Record<string, string>>;

// The tool server may have to be started first.
const START_TIMEOUT_MS = 60_000;

export class McpContentClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  async prompts(): Promise<Answer<readonly ServerPrompts[]>> {
    const answer = await request<{ readonly servers: readonly ServerPrompts[] }>(this.#fetch, "api/mcp/prompts", { signal: AbortSignal.timeout(START_TIMEOUT_MS) });
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.servers } : answer;
  }

  async resources(): Promise<Answer<readonly ServerResources[]>> {
    const answer = await request<{ readonly servers: readonly ServerResources[] }>(this.#fetch, "api/mcp/resources", { signal: AbortSignal.timeout(START_TIMEOUT_MS) });
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.servers } : answer;
  }

  fill(server: string, name: string, values: Arguments): Promise<Answer<FilledPrompt>> {
    return sendJson(this.#fetch, "POST", "api/mcp/prompts/get", { server, name, arguments: values }, START_TIMEOUT_MS);
  }

  async read(server: string, uri: string): Promise<Answer<readonly Content[]>> {
    const answer = await sendJson<{ readonly content: readonly Content[] }>(this.#fetch, "POST", "api/mcp/resources/read", { server, uri }, START_TIMEOUT_MS);
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.content } : answer;
  }

  /** Empty when the server has no suggestions. */
  async complete(completion: CompletionRequest): Promise<readonly string[]> {
    const answer = await sendJson<{ readonly values: readonly string[] }>(this.#fetch, "POST", "api/mcp/complete", completion);
    return answer.kind === "ok" ? answer.value.values : [];
  }
}
