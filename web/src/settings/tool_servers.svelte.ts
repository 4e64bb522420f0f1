// The tool servers as the settings show them: read again while somebody looks, more often while one of them is on its
// way to another phase. Owns what is being done with each and what came of it. Knows no DOM.
import type { Clock } from "../wire/transport/clock";
import { type Answer, problemOf } from "../wire/transport/http";
import type { Permission, Phase, ToolServer, ToolServerClient } from "../wire/mcp";
import type { NamedConfig } from "./server_config";

const SOON = 1500;
const SELDOM = 10_000;
const MOVING = new Set<Phase>(["idle", "starting", "handshake", "listing"]);

/** Soon it is in another phase; so is one where somebody is signing in. */
function isMoving({ phase, login }: ToolServer): boolean {
  return MOVING.has(phase) || (phase === "login" && Boolean(login));
}

type Asking = Pick<ToolServerClient, "list" | "add" | "switch" | "remove" | "reconnect" | "signIn" | "signOut" | "permissions" | "forget">;

export interface Added {
  readonly name: string;
  /** Empty where it was taken. */
  readonly problem: string;
}

export class ToolServers {
  readonly #client: Asking;
  readonly #clock: Clock;
  #all = $state.raw<readonly ToolServer[]>([]);
  #permissions = $state.raw<readonly Permission[]>([]);
  #known = $state(false);
  #problem = $state("");
  #busy = $state.raw<ReadonlySet<string>>(new Set());
  #refusals = $state.raw<Readonly<Record<string, string>>>({});
  #cancelTimer: (() => void) | null = null;
  #watched = false;

  constructor(client: Asking, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  get all(): readonly ToolServer[] {
    return this.#all;
  }

  /** The server has said what there is. */
  get known(): boolean {
    return this.#known;
  }

  /** Why they cannot be read. */
  get problem(): string {
    return this.#problem;
  }

  /** Something is being done with it. */
  busy(name: string): boolean {
    return this.#busy.has(name);
  }

  /** Why the last thing that was to be done with it was not. */
  refusal(name: string): string {
    return this.#refusals[name] ?? "";
  }

  /** Whether a tool runs without asking; "*" asks for all of its server. */
  isFree(server: string, tool: string): boolean {
    return this.#permissions.some((permission) => permission.server === server && permission.tool === tool);
  }

  /** Look until the answer is called. */
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
      this.#known = true;
    }
    if (permissions.kind === "ok") this.#permissions = permissions.value;
    this.#problem = problemOf(servers) || problemOf(permissions);
    if (this.#watched) this.#lookAgain();
  }

  #lookAgain(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(this.#all.some(isMoving) ? SOON : SELDOM, () => void this.load());
  }

  switch(name: string, disabled: boolean): Promise<boolean> {
    return this.#doing(name, () => this.#client.switch(name, disabled));
  }

  remove(name: string): Promise<boolean> {
    return this.#doing(name, () => this.#client.remove(name));
  }

  reconnect(name: string): Promise<boolean> {
    return this.#doing(name, () => this.#client.reconnect(name));
  }

  signOut(name: string): Promise<boolean> {
    return this.#doing(name, () => this.#client.signOut(name));
  }

  /** Begin to sign in; gives the address to open, or null where there is none to. */
  async signIn(name: string): Promise<string | null> {
    let login = "";
    await this.#doing(name, async () => {
      const answer = await this.#client.signIn(name);
      if (answer.kind === "ok") login = answer.value.login;
      return answer;
    });
    return login || null;
  }

  forget(server: string, tool: string): Promise<boolean> {
    return this.#doing(server, () => this.#client.forget({ server, tool }));
  }

  /** Add each; what came of them, in their order. */
  async add(configs: readonly NamedConfig[]): Promise<readonly Added[]> {
    const added: Added[] = [];
    for (const { name, config } of configs) added.push({ name, problem: problemOf(await this.#client.add(name, config)) });
    await this.load();
    return added;
  }

  async #doing(name: string, act: () => Promise<Answer<unknown>>): Promise<boolean> {
    if (this.#busy.has(name)) return false;
    this.#busy = new Set([...this.#busy, name]);
    this.#refusals = { ...this.#refusals, [name]: "" };
    const answer = await act();
    await this.load();
    this.#busy = new Set([...this.#busy].filter((other) => other !== name));
    this.#refusals = { ...this.#refusals, [name]: problemOf(answer) };
    return answer.kind === "ok";
  }
}
