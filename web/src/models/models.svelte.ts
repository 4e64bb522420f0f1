// State of the models screen: models, downloads and loads in progress, and their commands. Kept current by the server's
// event stream while the screen is open. No DOM.
import type { Clock } from "../wire/transport/clock";
import type { EventStream, StreamListener } from "../wire/transport/event_stream";
import { problemOf } from "../wire/transport/http";
import { type Download, type LoadRequest, type ModelsClient, type ModelsOverview, readModelsEvent } from "../wire/models";

/** Changes within this time (milliseconds) cause one reload. */
const REFRESH_DELAY_MS = 150;

export interface ModelsDependencies {
  readonly client: ModelsClient;
  readonly clock: Clock;
  readonly stream: (address: string, listener: StreamListener) => EventStream;
  /** The set of loaded models has changed. */
  readonly onModelsChanged: () => void;
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
  #overview = $state.raw<ModelsOverview | null>(null);
  #problem = $state("");
  #loading = $state.raw<readonly ModelLoad[]>([]);
  #feed: EventStream | null = null;
  #refreshScheduled = false;

  constructor(deps: ModelsDependencies) {
    this.#deps = deps;
  }

  /** Null before the first answer. */
  get overview(): ModelsOverview | null {
    return this.#overview;
  }

  get problem(): string {
    return this.#problem;
  }

  get loading(): readonly ModelLoad[] {
    return this.#loading;
  }

  /** Downloads that are not done, failed ones included. */
  get downloads(): readonly Download[] {
    return (this.#overview?.downloads ?? []).filter(({ state }) => state !== "done");
  }

  open(): void {
    void this.refresh();
    this.#feed ??= this.#deps.stream("api/models/events", {
      event: (data) => this.handleEvent(data),
      // Catch up on what was missed while disconnected.
      opened: () => this.#scheduleRefresh(),
    });
    this.#feed.resume();
  }

  close(): void {
    this.#feed?.close();
    this.#feed = null;
  }

  handleEvent(data: string): void {
    const event = readModelsEvent(data);
    if (event === null) return;
    if (event.type === "download") this.#put(event.download);
    if (event.type !== "download" || event.download.state === "done") this.#scheduleRefresh();
    if (event.type === "loaded") this.#deps.onModelsChanged();
  }

  async refresh(): Promise<void> {
    const answer = await this.#deps.client.overview();
    this.#problem = problemOf(answer);
    if (answer.kind === "ok") this.#overview = answer.value;
  }

  async load(request: LoadRequest): Promise<void> {
    const { name } = request;
    this.#setLoading({ name, progress: null, problem: "", code: "", request });
    const answer = await this.#deps.client.load(request, (progress) => this.#setLoading({ name, progress, problem: "", code: "", request }));
    if (answer.kind === "ok") this.dismiss(name);
    else this.#setLoading({ name, progress: null, problem: problemOf(answer), code: answer.kind === "refused" ? answer.code : "", request });
    this.#deps.onModelsChanged();
    await this.refresh();
  }

  /** Hides a failed load. */
  dismiss(name: string): void {
    this.#loading = this.#loading.filter((other) => other.name !== name);
  }

  async unload(worker: string): Promise<void> {
    const answer = await this.#deps.client.unload(worker);
    if (answer.kind !== "ok") this.#deps.notify(problemOf(answer));
    this.#deps.onModelsChanged();
    await this.refresh();
  }

  /** Starts or resumes a download. Returns a sentence if that fails. */
  async download(what: string): Promise<string> {
    const answer = await this.#deps.client.download(what);
    if (answer.kind === "ok") this.#put(answer.value);
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

  #put(download: Download): void {
    if (!this.#overview) return;
    const { downloads } = this.#overview;
    const isListed = downloads.some(({ id }) => id === download.id);
    const next = isListed ? downloads.map((other) => (other.id === download.id ? download : other)) : [...downloads, download];
    this.#overview = { ...this.#overview, downloads: next };
  }

  #scheduleRefresh(): void {
    if (this.#refreshScheduled) return;
    this.#refreshScheduled = true;
    this.#deps.clock.after(REFRESH_DELAY_MS, () => {
      this.#refreshScheduled = false;
      void this.refresh();
    });
  }
}
