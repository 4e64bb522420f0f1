// The models page's state: what the server has, what is on its way, and what a person does about it. Kept in step by
// the server's stream of events while the page is open. Knows no DOM.
import type { Clock } from "../wire/transport/clock";
import type { EventStream, StreamListener } from "../wire/transport/event_stream";
import { problemOf } from "../wire/transport/http";
import { type Download, type LoadRequest, type ModelsClient, type ModelsOverview, readModelsEvent } from "../wire/models";

/** Changes that come together are read once, milliseconds. */
const SETTLE = 150;

export interface ModelsSurroundings {
  readonly client: ModelsClient;
  readonly clock: Clock;
  readonly stream: (address: string, listener: StreamListener) => EventStream;
  /** What is loaded has changed: the page offers other models now. */
  readonly changed: () => void;
  readonly say: (sentence: string) => void;
}

/** A model that is being loaded from this page; `progress` 0 to 1, null where it cannot be told. */
export interface Loading {
  readonly name: string;
  readonly progress: number | null;
  readonly problem: string;
  readonly code: string;
  readonly wish: LoadRequest;
}

export class Models {
  readonly #around: ModelsSurroundings;
  #overview = $state.raw<ModelsOverview | null>(null);
  #problem = $state("");
  #loading = $state.raw<readonly Loading[]>([]);
  #feed: EventStream | null = null;
  #asked = false;

  constructor(around: ModelsSurroundings) {
    this.#around = around;
  }

  /** Null before the first answer. */
  get overview(): ModelsOverview | null {
    return this.#overview;
  }

  get problem(): string {
    return this.#problem;
  }

  get loading(): readonly Loading[] {
    return this.#loading;
  }

  /** Downloads that are not over, or ended badly. */
  get downloads(): readonly Download[] {
    return (this.#overview?.downloads ?? []).filter(({ state }) => state !== "done");
  }

  open(): void {
    void this.refresh();
    this.#feed ??= this.#around.stream("api/models/events", {
      event: (data) => this.heard(data),
      // What was missed while the line was gone.
      opened: () => this.#refreshSoon(),
    });
    this.#feed.resume();
  }

  close(): void {
    this.#feed?.close();
    this.#feed = null;
  }

  heard(data: string): void {
    const event = readModelsEvent(data);
    if (event === null) return;
    if (event.type === "download") this.#put(event.download);
    if (event.type !== "download" || event.download.state === "done") this.#refreshSoon();
    if (event.type === "loaded") this.#around.changed();
  }

  async refresh(): Promise<void> {
    const answer = await this.#around.client.overview();
    this.#problem = problemOf(answer);
    if (answer.kind === "ok") this.#overview = answer.value;
  }

  async load(wish: LoadRequest): Promise<void> {
    const { name } = wish;
    this.#setLoading({ name, progress: null, problem: "", code: "", wish });
    const answer = await this.#around.client.load(wish, (progress) => this.#setLoading({ name, progress, problem: "", code: "", wish }));
    if (answer.kind === "ok") this.dismiss(name);
    else this.#setLoading({ name, progress: null, problem: problemOf(answer), code: answer.kind === "refused" ? answer.code : "", wish });
    this.#around.changed();
    await this.refresh();
  }

  /** A load that failed is out of sight. */
  dismiss(name: string): void {
    this.#loading = this.#loading.filter((other) => other.name !== name);
  }

  async unload(worker: string): Promise<void> {
    const answer = await this.#around.client.unload(worker);
    if (answer.kind !== "ok") this.#around.say(problemOf(answer));
    this.#around.changed();
    await this.refresh();
  }

  /** Begin a download, or go on with one; gives a sentence when that fails. */
  async download(what: string): Promise<string> {
    const answer = await this.#around.client.download(what);
    if (answer.kind === "ok") this.#put(answer.value);
    return problemOf(answer);
  }

  async stop(id: string): Promise<void> {
    const answer = await this.#around.client.stop(id);
    if (answer.kind !== "ok") this.#around.say(problemOf(answer));
    await this.refresh();
  }

  async remove(name: string): Promise<void> {
    const answer = await this.#around.client.remove(name);
    if (answer.kind !== "ok") this.#around.say(problemOf(answer));
    await this.refresh();
  }

  #setLoading(loading: Loading): void {
    this.#loading = [...this.#loading.filter(({ name }) => name !== loading.name), loading];
  }

  #put(download: Download): void {
    if (!this.#overview) return;
    const { downloads } = this.#overview;
    const known = downloads.some(({ id }) => id === download.id);
    const next = known ? downloads.map((other) => (other.id === download.id ? download : other)) : [...downloads, download];
    this.#overview = { ...this.#overview, downloads: next };
  }

  #refreshSoon(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#around.clock.after(SETTLE, () => {
      this.#asked = false;
      void this.refresh();
    });
  }
}
