// State of the voice packs in the settings: the list, the pack being installed, and what the server refused, by pack. Kept
// current by the server's event stream while the section is open. No DOM.
import type { Clock } from "../wire/transport/clock";
import type { EventStream, StreamListener } from "../wire/transport/event_stream";
import { type Answer, problemOf } from "../wire/transport/http";
import { OverviewFeed } from "../wire/transport/overview_feed.svelte";
import { type PackJob, type PacksOverview, readPacksEvent, type VoicePack, type VoicePacksClient } from "../wire/voice/voice_packs";

export interface VoicePacksDependencies {
  readonly client: Pick<VoicePacksClient, "overview" | "use" | "remove">;
  readonly clock: Clock;
  readonly stream: (address: string, listener: StreamListener) => EventStream;
  /** The server speaks and listens with other engines now. */
  readonly onVoiceChanged: () => void;
}

export class VoicePacks {
  readonly #deps: VoicePacksDependencies;
  readonly #feed: OverviewFeed<PacksOverview>;
  #refusals = $state.raw<Readonly<Record<string, string>>>({});
  #dismissed = $state.raw<PackJob | null>(null);

  constructor(deps: VoicePacksDependencies) {
    this.#deps = deps;
    this.#feed = new OverviewFeed({ ...deps, read: () => deps.client.overview() });
  }

  /** Null before the first answer. */
  get overview(): PacksOverview | null {
    return this.#feed.overview;
  }

  get problem(): string {
    return this.#feed.problem;
  }

  open(): void {
    this.#feed.open("api/voice/packs/events", (data) => this.handleEvent(data));
  }

  close(): void {
    this.#feed.close();
  }

  handleEvent(data: string): void {
    const event = readPacksEvent(data);
    if (event === null) return;
    if (event.type === "pack") this.#put(event.job);
    else this.#feed.scheduleRefresh();
    if (event.type === "pack" && event.job.state === "done") this.#deps.onVoiceChanged();
  }

  async refresh(): Promise<void> {
    await this.#feed.refresh();
  }

  /** The job of a pack that is at work, or ended otherwise than well and was not hidden. */
  jobOf(name: string): PackJob | null {
    const job = this.#feed.overview?.job;
    return job && job.pack === name && job.state !== "done" && !isSame(job, this.#dismissed) ? job : null;
  }

  /** Why the last command about this pack was refused; empty if it was not. */
  refusal(name: string): string {
    return this.#refusals[name] ?? "";
  }

  /** Downloads what is missing, and uses the pack. */
  async use(name: string): Promise<void> {
    this.#dismissed = null;
    const answer = await this.#deps.client.use(name);
    this.#refuse(name, answer);
    if (answer.kind === "ok") this.#put(answer.value);
  }

  /** Removes a pack; one that is being installed is stopped instead. */
  async remove(name: string): Promise<void> {
    this.#refuse(name, await this.#deps.client.remove(name));
    await this.refresh();
  }

  /** Hides the job that has ended. */
  dismiss(): void {
    this.#dismissed = this.#feed.overview?.job ?? null;
  }

  #refuse(name: string, answer: Answer<unknown>): void {
    this.#refusals = { ...this.#refusals, [name]: problemOf(answer) };
  }

  #put(job: PackJob): void {
    this.#feed.update((overview) => ({ ...overview, job }));
  }
}

/** The job as it was when it was hidden: the list is read again meanwhile. */
function isSame(job: PackJob, other: PackJob | null): boolean {
  return other !== null && job.pack === other.pack && job.state === other.state && job.error?.message === other.error?.message;
}

/** Packs for this language first, otherwise in the server's order. */
export function forLanguage(packs: readonly VoicePack[], language: string): VoicePack[] {
  return packs.toSorted((one, other) => Number(other.languages.includes(language)) - Number(one.languages.includes(language)));
}
