// Tool servers: what there is and how it is, and what an admin changes about it. Knows no page.
import { type Answer, ask, type Fetch, tell } from "./transport/http";

/** `idle`: not tried yet; `waiting`: it failed and is tried again soon; `failed`: only a person can mend it; `login`:
 * somebody has to sign in there first; `off`: disabled. */
export type Phase = "off" | "idle" | "starting" | "handshake" | "listing" | "ready" | "failed" | "waiting" | "login";

export interface OfferedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly read_only: boolean;
}

/** A tool server as this person has it. Times in milliseconds since 1970, 0 is none. */
export interface ToolServer {
  readonly name: string;
  readonly phase: Phase;
  readonly since: number;
  readonly source: "builtin" | "config" | "admin";
  readonly transport: string;
  /** How it is reached; only admins are told. */
  readonly address: string;
  /** What it said last. */
  readonly message: string;
  /** When it is tried again. */
  readonly retry: number;
  /** Where to sign in, once that was begun. */
  readonly login: string;
  readonly title: string;
  readonly version: string;
  readonly instructions: string;
  readonly tools: number;
  readonly resources: number;
  readonly templates: number;
  readonly prompts: number;
  readonly disabled: boolean;
  /** This person has signed in there. */
  readonly signed_in: boolean;
  readonly offers?: readonly OfferedTool[];
}

export interface ServerLogLine {
  readonly at: number;
  readonly source: "duologue" | "server" | "stderr";
  readonly text: string;
}

/** A tool that runs without asking; "*" is every tool of its server. */
export interface Permission {
  readonly server: string;
  readonly tool: string;
}

/** A server in the words of `mcpServers`. */
export type ServerConfig = Readonly<Record<string, unknown>>;

// A server that is tried answers when that has come to something; the setting mcp.connect_s is half a minute.
const CONNECTING = 60_000;

export class ToolServerClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  async list(): Promise<Answer<readonly ToolServer[]>> {
    const answer = await ask<{ readonly servers: readonly ToolServer[] }>(this.#fetch, "api/mcp");
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.servers } : answer;
  }

  /** Another one of the same name takes its place. */
  add(name: string, config: ServerConfig): Promise<Answer<ToolServer>> {
    return tell(this.#fetch, "POST", "api/mcp/servers", { name, config });
  }

  /** For everybody. */
  switch(name: string, disabled: boolean): Promise<Answer<ToolServer>> {
    return tell(this.#fetch, "PATCH", this.#at(name), { disabled });
  }

  remove(name: string): Promise<Answer<null>> {
    return tell(this.#fetch, "DELETE", this.#at(name));
  }

  reconnect(name: string): Promise<Answer<ToolServer>> {
    return tell(this.#fetch, "POST", `${this.#at(name)}/reconnect`, undefined, CONNECTING);
  }

  async log(name: string): Promise<Answer<readonly ServerLogLine[]>> {
    const answer = await ask<{ readonly lines: readonly ServerLogLine[] }>(this.#fetch, `${this.#at(name)}/log`);
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.lines } : answer;
  }

  signIn(name: string): Promise<Answer<ToolServer>> {
    return tell(this.#fetch, "POST", `${this.#at(name)}/login`, undefined, CONNECTING);
  }

  signOut(name: string): Promise<Answer<null>> {
    return tell(this.#fetch, "DELETE", `${this.#at(name)}/login`);
  }

  async permissions(): Promise<Answer<readonly Permission[]>> {
    const answer = await ask<{ readonly permissions: readonly Permission[] }>(this.#fetch, "api/permissions");
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.permissions } : answer;
  }

  /** It asks again. */
  forget({ server, tool }: Permission): Promise<Answer<null>> {
    return tell(this.#fetch, "DELETE", `api/permissions?server=${encodeURIComponent(server)}&tool=${encodeURIComponent(tool)}`);
  }

  #at(name: string): string {
    return `api/mcp/servers/${encodeURIComponent(name)}`;
  }
}
