// State of the models screen: models, downloads and loads in progress, and their commands. Kept current by the server's
// event stream while the screen is open. No DOM.
import type { Clock } from "../wire/transport/clock";
import type { EventStream, StreamListener } from "../wire/transport/event_stream";
import { type Answer, problemOf } from "../wire/transport/http";
import { OverviewFeed } from "../wire/transport/overview_feed.svelte";
import { type Download, type LoadRequest, type ModelsClient, type ModelsOverview, readModelsEvent } from "../wire/models/models";

export interface ModelsDependencies {
  readonly client: ModelsClient;
  readonly clock: Clock;
  readonly stream: (address: string, listener: StreamListener) => EventStream;
  /** The set of loaded models has changed. */
  readonly onModelsChanged: () => void;
  /** A model became the default here: the user wants to talk to it. */
  readonly onNewDefault: () => void;
  readonly notify: (sentence: string) => void;
}

/** A model this page is loading; `progress` 0 to 1, null if unknown. */
export interface ModelLoad {
  readonly name: string;
  readonly progress: number | null;
  readonly problem: string;
  readonly code: string;
  readonly request: LoadRequest;
}

export class Models {
  readonly #deps: ModelsDependencies;
  readonly #feed: OverviewFeed<ModelsOverview>;
  #loading = $state.raw<readonly ModelLoad[]>([]);
  #refusals = $state.raw<Readonly<Record<string, string>>>({});

  constructor(deps: ModelsDependencies) {
    this.#deps = deps;
    this.#feed = new OverviewFeed({ ...deps, read: () => deps.client.overview() });
  }

  /** Null before the first answer. */
  get overview(): ModelsOverview | null {
    return this.#feed.overview;
  }

  get problem(): string {
    return this.#feed.problem;
  }

  get loading(): readonly ModelLoad[] {
    return this.#loading;
  }

  open(): void {
    this.#feed.open("api/models/events", (data) => this.handleEvent(data));
  }

  close(): void {
    this.#feed.close();
  }

  handleEvent(data: string): void {
    const event = readModelsEvent(data);
    if (event === null) return;
    if (event.type === "download") this.#put(event.download);
    const done = event.type === "download" && event.download.state === "done" ? event.download : null;
    if (event.type !== "download" || done) this.#feed.scheduleRefresh();
    if (event.type === "loaded" || done?.use) this.#deps.onModelsChanged();
    if (done?.use) this.#deps.onNewDefault();
  }

  async refresh(): Promise<void> {
    await this.#feed.refresh();
  }

  async load(request: LoadRequest): Promise<void> {
    const answer = await this.#follow(request, (onProgress) => this.#deps.client.load(request, onProgress));
    if (answer.kind === "ok" && request.default) this.#deps.onNewDefault();
  }

  /** Loads a remembered model again. */
  async retry(name: string): Promise<void> {
    await this.#follow({ name }, (onProgress) => this.#deps.client.retry(name, onProgress));
  }

  /** The server does not load a remembered model at its next start. */
  async forget(name: string): Promise<void> {
    await this.#command(this.#deps.client.forget(name));
  }

  /** Makes a loaded model the default. */
  async makeDefault(name: string): Promise<void> {
    if (await this.#command(this.#deps.client.makeDefault(name))) this.#deps.onNewDefault();
  }

  async #command(command: Promise<Answer<unknown>>): Promise<boolean> {
    const answer = await command;
    if (answer.kind !== "ok") this.#deps.notify(problemOf(answer));
    this.#deps.onModelsChanged();
    await this.refresh();
    return answer.kind === "ok";
  }

  /** Shows a load until it has ended. */
  async #follow(request: LoadRequest, start: (onProgress: (progress: number | null) => void) => Promise<Answer<null>>): Promise<Answer<null>> {
    const { name } = request;
    this.#setLoading({ name, progress: null, problem: "", code: "", request });
    const answer = await start((progress) => this.#setLoading({ name, progress, problem: "", code: "", request }));
    if (answer.kind === "ok") this.dismiss(name);
    else this.#setLoading({ name, progress: null, problem: problemOf(answer), code: answer.kind === "refused" ? answer.code : "", request });
    this.#deps.onModelsChanged();
    await this.refresh();
    return answer;
  }

  /** Hides a failed load. */
  dismiss(name: string): void {
    this.#loading = this.#loading.filter((other) => other.name !== name);
  }

  async unload(name: string): Promise<void> {
    await this.#command(this.#deps.client.unload(name));
  }

  /** Why the last request to download this was refused; empty if it was not. */
  refusal(what: string): string {
    return this.#refusals[what] ?? "";
  }

  /** Starts or resumes a download; `use`: it then becomes the default model. Returns a sentence if that fails. */
  async download(what: string, use = false): Promise<string> {
    const answer = await this.#deps.client.download(what, use);
    if (answer.kind === "ok") this.#put(answer.value, what);
    this.#refusals = { ...this.#refusals, [what]: problemOf(answer) };
    return problemOf(answer);
  }

  async stop(id: string): Promise<void> {
    const answer = await this.#deps.client.stop(id);
    if (answer.kind !== "ok") this.#deps.notify(problemOf(answer));
    await this.refresh();
  }

  async remove(name: string): Promise<void> {
    const answer = await this.#deps.client.remove(name);
    if (answer.kind !== "ok") this.#deps.notify(problemOf(answer));
    await this.refresh();
  }

  #setLoading(loading: ModelLoad): void {
    this.#loading = [...this.#loading.filter(({ name }) => name !== loading.name), loading];
  }

  /** `replaced`: the server has dropped an earlier download of the same. */
  #put(download: Download, replaced = ""): void {
    this.#feed.update((overview) => {
      const downloads = overview.downloads.filter(({ id, what }) => id === download.id || what !== replaced);
      const isListed = downloads.some(({ id }) => id === download.id);
      return { ...overview, downloads: isListed ? downloads.map((other) => (other.id === download.id ? download : other)) : [...downloads, download] };
    });
  }
}
