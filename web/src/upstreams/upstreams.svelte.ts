// State of the connected model servers, of the servers found on this machine, and their commands. No DOM.
import { problemOf } from "../wire/transport/http";
import type { FoundServer, NewUpstream, Provider, Upstream, UpstreamChange, UpstreamsClient } from "../wire/models/upstreams";

export interface UpstreamsDependencies {
  readonly client: UpstreamsClient;
  /** The set of models that can be chosen may have changed. */
  readonly onModelsChanged: () => void;
  readonly notify: (sentence: string) => void;
}

export class Upstreams {
  readonly #deps: UpstreamsDependencies;
  #list = $state.raw<readonly Upstream[]>([]);
  #providers = $state.raw<readonly Provider[]>([]);
  #found = $state.raw<readonly FoundServer[] | null>(null);
  #connecting = $state("");

  constructor(deps: UpstreamsDependencies) {
    this.#deps = deps;
  }

  get list(): readonly Upstream[] {
    return this.#list;
  }

  get providers(): readonly Provider[] {
    return this.#providers;
  }

  /** Null while they are looked for. */
  get found(): readonly FoundServer[] | null {
    return this.#found;
  }

  /** The address that is being connected. */
  get connecting(): string {
    return this.#connecting;
  }

  async refresh(): Promise<void> {
    const answer = await this.#deps.client.list();
    if (answer.kind !== "ok") return;
    this.#list = answer.value.upstreams;
    this.#providers = answer.value.providers;
  }

  async discover(): Promise<void> {
    this.#found = null;
    const answer = await this.#deps.client.discover();
    this.#found = answer.kind === "ok" ? answer.value.found : [];
  }

  /** Connects a server. Returns a sentence if that fails. */
  async connect(upstream: NewUpstream): Promise<string> {
    this.#connecting = upstream.url;
    const answer = await this.#deps.client.connect(upstream);
    this.#connecting = "";
    return this.#changed(problemOf(answer));
  }

  /** Returns a sentence if that fails. */
  async change(name: string, change: UpstreamChange): Promise<string> {
    return this.#changed(problemOf(await this.#deps.client.change(name, change)));
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    const problem = await this.change(name, { enabled });
    if (problem !== "") this.#deps.notify(problem);
  }

  async remove(name: string): Promise<void> {
    const problem = await this.#changed(problemOf(await this.#deps.client.remove(name)));
    if (problem !== "") this.#deps.notify(problem);
  }

  async #changed(problem: string): Promise<string> {
    this.#deps.onModelsChanged();
    await this.refresh();
    return problem;
  }
}
