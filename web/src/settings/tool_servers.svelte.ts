// Tool servers for the settings screen: polled while the screen is open, faster while one is connecting. Owns the state
// of commands in progress and their errors. No DOM.
import type { Clock } from "../wire/transport/clock";
import { type Answer, problemOf } from "../wire/transport/http";
import type { Permission, Phase, ToolServer, ToolServerClient } from "../wire/tools/mcp";
import type { NamedConfig } from "./server_config";

const FAST_POLL_MS = 1500;
const SLOW_POLL_MS = 10_000;
const TRANSIENT_PHASES = new Set<Phase>(["idle", "starting", "handshake", "listing"]);

/** Its phase will change soon; that includes a started sign-in. */
function isTransient({ phase, login }: ToolServer): boolean {
  return TRANSIENT_PHASES.has(phase) || (phase === "login" && Boolean(login));
}

type ToolServerApi = Pick<ToolServerClient, "list" | "add" | "setDisabled" | "remove" | "reconnect" | "signIn" | "signOut" | "permissions" | "revokePermission">;

export interface AddResult {
  readonly name: string;
  /** Empty if it was accepted. */
  readonly problem: string;
}

export class ToolServers {
  readonly #client: ToolServerApi;
  readonly #clock: Clock;
  #all = $state.raw<readonly ToolServer[]>([]);
  #permissions = $state.raw<readonly Permission[]>([]);
  #loaded = $state(false);
  #problem = $state("");
  #busy = $state.raw<ReadonlySet<string>>(new Set());
  #errors = $state.raw<Readonly<Record<string, string>>>({});
  #cancelTimer: (() => void) | null = null;
  #watched = false;

  constructor(client: ToolServerApi, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  get all(): readonly ToolServer[] {
    return this.#all;
  }

  /** Loaded at least once. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Why the list cannot be loaded. */
  get problem(): string {
    return this.#problem;
  }

  /** A command on this server is in progress. */
  busy(name: string): boolean {
    return this.#busy.has(name);
  }

  /** Why the last command on this server failed. */
  error(name: string): string {
    return this.#errors[name] ?? "";
  }

  /** Whether a tool runs without asking; "*" is all tools of its server. */
  isAllowed(server: string, tool: string): boolean {
    return this.#permissions.some((permission) => permission.server === server && permission.tool === tool);
  }

  /** Polls until the returned function is called. */
  watch(): () => void {
    this.#watched = true;
    void this.load();
    return () => {
      this.#watched = false;
      this.#cancelTimer?.();
      this.#cancelTimer = null;
    };
  }

  async load(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const [servers, permissions] = await Promise.all([this.#client.list(), this.#client.permissions()]);
    if (servers.kind === "ok") {
      this.#all = servers.value;
      this.#loaded = true;
    }
    if (permissions.kind === "ok") this.#permissions = permissions.value;
    this.#problem = problemOf(servers) || problemOf(permissions);
    if (this.#watched) this.#schedulePoll();
  }

  #schedulePoll(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(this.#all.some(isTransient) ? FAST_POLL_MS : SLOW_POLL_MS, () => void this.load());
  }

  setDisabled(name: string, disabled: boolean): Promise<boolean> {
    return this.#run(name, () => this.#client.setDisabled(name, disabled));
  }

  remove(name: string): Promise<boolean> {
    return this.#run(name, () => this.#client.remove(name));
  }

  reconnect(name: string): Promise<boolean> {
    return this.#run(name, () => this.#client.reconnect(name));
  }

  signOut(name: string): Promise<boolean> {
    return this.#run(name, () => this.#client.signOut(name));
  }

  /** Starts a sign-in. Returns the URL to open, or null. */
  async signIn(name: string): Promise<string | null> {
    let login = "";
    await this.#run(name, async () => {
      const answer = await this.#client.signIn(name);
      if (answer.kind === "ok") login = answer.value.login;
      return answer;
    });
    return login || null;
  }

  revokePermission(server: string, tool: string): Promise<boolean> {
    return this.#run(server, () => this.#client.revokePermission({ server, tool }));
  }

  /** Adds each and returns the results in the same order. */
  async add(configs: readonly NamedConfig[]): Promise<readonly AddResult[]> {
    const results: AddResult[] = [];
    for (const { name, config } of configs) results.push({ name, problem: problemOf(await this.#client.add(name, config)) });
    await this.load();
    return results;
  }

  async #run(name: string, act: () => Promise<Answer<unknown>>): Promise<boolean> {
    if (this.#busy.has(name)) return false;
    this.#busy = new Set([...this.#busy, name]);
    this.#errors = { ...this.#errors, [name]: "" };
    const answer = await act();
    await this.load();
    this.#busy = new Set([...this.#busy].filter((other) => other !== name));
    this.#errors = { ...this.#errors, [name]: problemOf(answer) };
    return answer.kind === "ok";
  }
}
