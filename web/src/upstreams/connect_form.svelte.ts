// The form for a model server: a new one, one of a service, or a connected one that is changed; with its test. No DOM.
import { problems } from "../language/en/shell/problems";
import { problemOf } from "../wire/transport/http";
import type { MediaKind, NewUpstream, Provider, Timeout, Upstream, UpstreamChange, UpstreamModel, UpstreamsClient, UpstreamTest } from "../wire/models/upstreams";
import { MEDIA, mediaOf } from "./model_abilities";
import type { Upstreams } from "./upstreams.svelte";

/** The kind of a server that is none of the known ones. */
const OTHER = "other";

export class ConnectForm {
  readonly #client: UpstreamsClient;
  readonly #upstreams: Upstreams;
  readonly existing: Upstream | null;
  #url = $state("");
  #key = $state("");
  #kind = $state(OTHER);
  #result = $state.raw<UpstreamTest | null>(null);
  #problem = $state("");
  #busy = $state<"" | "testing" | "saving">("");
  #chosen = $state.raw<ReadonlySet<string> | null>(null);
  #said = $state.raw<Upstream["modalities"] | null>(null);
  #outputs = $state.raw<Upstream["outputs"] | null>(null);
  #timeouts = $state.raw<Upstream["timeouts"] | null>(null);
  // A later test or change makes the answer of an earlier one worthless.
  #attempt = 0;

  constructor(client: UpstreamsClient, upstreams: Upstreams, existing: Upstream | null = null) {
    this.#client = client;
    this.#upstreams = upstreams;
    this.existing = existing;
    if (existing === null) return;
    this.#url = existing.url;
    this.#kind = existing.kind;
    this.#chosen = existing.chosen === null ? null : new Set(existing.chosen);
  }

  get url(): string {
    return this.#url;
  }

  set url(url: string) {
    this.#url = url;
    this.#forget();
  }

  get key(): string {
    return this.#key;
  }

  set key(key: string) {
    this.#key = key;
    this.#forget();
  }

  get kind(): string {
    return this.#kind;
  }

  /** What the last test found. */
  get result(): UpstreamTest | null {
    return this.#result;
  }

  /** Why the last test or connection failed. */
  get problem(): string {
    const found = this.#result?.problem;
    return found ? problems().ofUpstream(found) : this.#problem;
  }

  get busy(): "" | "testing" | "saving" {
    return this.#busy;
  }

  get isComplete(): boolean {
    return this.#url.trim() !== "";
  }

  /** The models to use; null: all. */
  get chosen(): ReadonlySet<string> | null {
    return this.#chosen;
  }

  useAll(all: boolean): void {
    this.#chosen = all ? null : new Set(this.existing?.models.map(({ name }) => name));
  }

  choose(name: string, use: boolean): void {
    const next = new Set(this.#chosen);
    if (use) next.add(name);
    else next.delete(name);
    this.#chosen = next;
  }

  /** What the admin says that a model takes besides text; null: its server is asked. */
  said(name: string): readonly MediaKind[] | null {
    const said = (this.#said ?? this.existing?.modalities)?.[name];
    return said ?? (this.#outputsSaid()[name] ? mediaOf(this.#known(name)?.modalities ?? null) : null);
  }

  /** Whether the model speaks, as the admin says, or else its server. */
  speaks(name: string): boolean {
    return (this.#outputsSaid()[name] ?? this.#known(name)?.outputs ?? []).includes("audio");
  }

  sayWhetherItSpeaks(name: string, speaks: boolean): void {
    this.#outputs = { ...this.#outputsSaid(), [name]: speaks ? ["audio"] : [] };
  }

  /** Has the admin say what a model takes, beginning with what is known of it, or its server be asked again. */
  sayMyself(name: string, mine: boolean): void {
    const { [name]: _, ...others } = this.#said ?? this.existing?.modalities ?? {};
    this.#said = mine ? { ...others, [name]: mediaOf(this.#known(name)?.modalities ?? null) } : others;
    const { [name]: outputs, ...othersOutputs } = this.#outputsSaid();
    if (!mine && outputs) this.#outputs = othersOutputs;
  }

  say(name: string, kind: MediaKind, takes: boolean): void {
    const before = this.said(name) ?? [];
    const kinds = MEDIA.filter((each) => (each === kind ? takes : before.includes(each)));
    this.#said = { ...(this.#said ?? this.existing?.modalities), [name]: kinds };
  }

  /** Seconds that the server may be silent; null: the default. */
  timeout(which: Timeout): number | null {
    return (this.#timeouts ?? this.existing?.timeouts)?.[which] ?? null;
  }

  /** Sets that; what is no number above 0 is the default. */
  limit(which: Timeout, seconds: number): void {
    const { [which]: _, ...others } = this.#timeouts ?? this.existing?.timeouts ?? {};
    this.#timeouts = seconds > 0 ? { ...others, [which]: seconds } : others;
  }

  /** Fills in the address of a service or of a server that was found. */
  select({ kind, url }: Pick<Provider, "kind" | "url">): void {
    this.#url = url;
    this.#kind = kind;
    this.#key = "";
    this.#forget();
  }

  /** Back to an address of one's own. */
  clear(): void {
    this.select({ kind: OTHER, url: "" });
  }

  async test(): Promise<void> {
    const attempt = ++this.#attempt;
    this.#result = null;
    this.#problem = "";
    this.#busy = "testing";
    const stored = this.existing === null || this.#key !== "" ? {} : { name: this.existing.name };
    const answer = await this.#client.test({ ...this.#request(), ...stored });
    if (attempt !== this.#attempt) return;
    this.#busy = "";
    if (answer.kind === "ok") this.#result = answer.value;
    else this.#problem = problemOf(answer);
  }

  /** Connects the server or saves the changes. Whether that succeeded. */
  async save(): Promise<boolean> {
    const attempt = ++this.#attempt;
    this.#problem = "";
    this.#busy = "saving";
    const problem = this.existing === null ? await this.#upstreams.connect(this.#request()) : await this.#upstreams.change(this.existing.name, this.#change(this.existing));
    if (attempt === this.#attempt) {
      this.#busy = "";
      this.#result = null;
      this.#problem = problem;
    }
    return problem === "";
  }

  #request(): NewUpstream {
    return { url: this.#url.trim(), kind: this.#kind, ...(this.#key.trim() === "" ? {} : { key: this.#key.trim() }) };
  }

  #change({ url }: Upstream): UpstreamChange {
    return {
      ...(this.#url.trim() === url ? {} : { url: this.#url.trim() }),
      ...(this.#key.trim() === "" ? {} : { key: this.#key.trim() }),
      models: this.#chosen === null ? null : [...this.#chosen],
      ...(this.#said === null ? {} : { modalities: this.#said }),
      ...(this.#outputs === null ? {} : { outputs: this.#outputs }),
      ...(this.#timeouts === null ? {} : { timeouts: this.#timeouts }),
    };
  }

  #outputsSaid(): Upstream["outputs"] {
    return this.#outputs ?? this.existing?.outputs ?? {};
  }

  #known(name: string): UpstreamModel | undefined {
    return this.existing?.models.find((model) => model.name === name);
  }

  #forget(): void {
    this.#attempt++;
    this.#busy = "";
    this.#result = null;
    this.#problem = "";
  }
}
