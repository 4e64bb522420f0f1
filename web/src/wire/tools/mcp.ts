// Tool server (MCP) API: list, status and administration.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

/** `idle`: not tried yet; `waiting`: failed, retry scheduled; `failed`: needs an admin; `login`: a user must sign in;
 * `off`: disabled. */
export type Phase = "off" | "idle" | "starting" | "handshake" | "listing" | "ready" | "failed" | "waiting" | "login";

export interface ToolInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly read_only: boolean;
}

/** A tool server as this user sees it. Times in milliseconds since 1970, 0 is none. */
export interface ToolServer {
  readonly name: string;
  readonly phase: Phase;
  readonly since: number;
  readonly source: "builtin" | "config" | "admin";
  readonly transport: string;
  /** URL or command; only sent to admins. */
  readonly address: string;
  /** Last status or error message. */
  readonly message: string;
  /** Time of the next attempt. */
  readonly retry: number;
  /** Sign-in URL, once the login was started. */
  readonly login: string;
  readonly title: string;
  readonly version: string;
  readonly instructions: string;
  readonly tools: number;
  readonly resources: number;
  readonly templates: number;
  readonly prompts: number;
  readonly disabled: boolean;
  /** This user is signed in. */
  readonly signed_in: boolean;
  readonly offers?: readonly ToolInfo[];
}

export interface ServerLogLine {
  readonly at: number;
  readonly source: "duologue" | "server" | "stderr";
  readonly text: string;
}

/** A standing permission: the tool runs without asking; "*" is every tool of its server. */
export interface Permission {
  readonly server: string;
  readonly tool: string;
}

/** One entry of an `mcpServers` configuration. */
export type ServerConfig = Readonly<Record<string, unknown>>;

// The server answers after the connection attempt; its setting `mcp.connect_s` defaults to 30 s.
const CONNECT_TIMEOUT_MS = 60_000;

export class ToolServerClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  async list(): Promise<Answer<readonly ToolServer[]>> {
    const answer = await request<{ readonly servers: readonly ToolServer[] }>(this.#fetch, "api/mcp");
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.servers } : answer;
  }

  /** Replaces a server of the same name. */
  add(name: string, config: ServerConfig): Promise<Answer<ToolServer>> {
    return sendJson(this.#fetch, "POST", "api/mcp/servers", { name, config });
  }

  /** For all users. */
  setDisabled(name: string, disabled: boolean): Promise<Answer<ToolServer>> {
    return sendJson(this.#fetch, "PATCH", this.#at(name), { disabled });
  }

  remove(name: string): Promise<Answer<null>> {
    return sendJson(this.#fetch, "DELETE", this.#at(name));
  }

  reconnect(name: string): Promise<Answer<ToolServer>> {
    return sendJson(this.#fetch, "POST", `${this.#at(name)}/reconnect`, undefined, CONNECT_TIMEOUT_MS);
  }

  async log(name: string): Promise<Answer<readonly ServerLogLine[]>> {
    const answer = await request<{ readonly lines: readonly ServerLogLine[] }>(this.#fetch, `${this.#at(name)}/log`);
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.lines } : answer;
  }

  signIn(name: string): Promise<Answer<ToolServer>> {
    return sendJson(this.#fetch, "POST", `${this.#at(name)}/login`, undefined, CONNECT_TIMEOUT_MS);
  }

  signOut(name: string): Promise<Answer<null>> {
    return sendJson(this.#fetch, "DELETE", `${this.#at(name)}/login`);
  }

  async permissions(): Promise<Answer<readonly Permission[]>> {
    const answer = await request<{ readonly permissions: readonly Permission[] }>(this.#fetch, "api/permissions");
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.permissions } : answer;
  }

  /** Revokes the permission: the tool asks again. */
  revokePermission({ server, tool }: Permission): Promise<Answer<null>> {
    return sendJson(this.#fetch, "DELETE", `api/permissions?server=${encodeURIComponent(server)}&tool=${encodeURIComponent(tool)}`);
  }

  #at(name: string): string {
    return `api/mcp/servers/${encodeURIComponent(name)}`;
  }
}
