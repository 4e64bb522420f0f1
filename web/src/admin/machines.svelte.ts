// State of the admin screen about other machines, polled while it is open. A server that lacks one of the three lists is asked once for it. No DOM.
import type { ClusterState, GatewayRow, Machine, MachineClient, MachineList } from "../wire/server/machines";
import type { Clock } from "../wire/transport/clock";
import type { Answer } from "../wire/transport/http";

const POLL_MS = 2000;

type Client = Pick<MachineClient, "machines" | "gateways" | "nodes">;

export class Machines {
  readonly #client: Client;
  readonly #clock: Clock;
  #list = $state.raw<MachineList | null>(null);
  #gateways = $state.raw<readonly GatewayRow[]>([]);
  #cluster = $state.raw<ClusterState | null>(null);
  readonly #lacking = new Set<string>();
  /** Number of the current opening, 0 while closed: an answer to an earlier opening is dropped. */
  #opening = 0;
  #openings = 0;
  #cancelTimer: (() => void) | null = null;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Whether workers of other machines may join. */
  get join(): boolean {
    return this.#list?.join ?? false;
  }

  /** Where workers reach the server; empty if its settings do not say. */
  get address(): string {
    return this.#list?.address ?? "";
  }

  get fingerprint(): string {
    return this.#list?.fingerprint ?? "";
  }

  /** The machines beside the server's own. */
  get others(): readonly Machine[] {
    return this.#list?.machines.filter(({ machine }) => machine !== "") ?? [];
  }

  /** The names of the workers on other machines. */
  get elsewhere(): ReadonlySet<string> {
    return new Set(this.others.flatMap(({ workers }) => workers.map(({ worker }) => worker)));
  }

  /** The servers of one database, where there are several. */
  get gateways(): readonly GatewayRow[] {
    return this.#gateways;
  }

  get cluster(): ClusterState | null {
    return this.#cluster;
  }

  open(): void {
    if (this.#opening > 0) return;
    this.#opening = ++this.#openings;
    void this.#poll();
  }

  close(): void {
    this.#opening = 0;
    this.#cancelTimer?.();
  }

  /** Ask at once, as something was just changed. */
  look(): void {
    if (this.#opening === 0) return;
    // A new opening, so that an answer from before the change is dropped.
    this.#cancelTimer?.();
    this.#opening = ++this.#openings;
    void this.#poll();
  }

  async #poll(): Promise<void> {
    const opening = this.#opening;
    const [list, gateways, cluster] = await Promise.all([
      this.#ask("machines", () => this.#client.machines()),
      this.#ask("gateways", () => this.#client.gateways()),
      this.#ask("nodes", () => this.#client.nodes()),
    ]);
    if (opening !== this.#opening) return;
    // What cannot be answered for a moment stays as it was.
    if (list) this.#list = list;
    if (gateways) this.#gateways = gateways.gateways;
    if (cluster) this.#cluster = cluster;
    if (this.#lacking.size < 3) this.#cancelTimer = this.#clock.after(POLL_MS, () => void this.#poll());
  }

  async #ask<Value>(name: string, ask: () => Promise<Answer<Value>>): Promise<Value | null> {
    if (this.#lacking.has(name)) return null;
    const answer = await ask();
    if (answer.kind === "ok") return answer.value;
    if (answer.kind === "refused" && answer.status === 404) this.#lacking.add(name);
    return null;
  }
}
