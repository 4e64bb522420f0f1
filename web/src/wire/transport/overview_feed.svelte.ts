// What a screen shows of the server: read when it opens, and again soon after the server's event stream says that something
// changed. `models/models.svelte.ts` and `settings/voice_packs.svelte.ts` are each one of these and their commands. No DOM.
import type { Clock } from "./clock";
import type { EventStream, StreamListener } from "./event_stream";
import { type Answer, problemOf } from "./http";

/** Changes within this time (milliseconds) cause one reload. */
const REFRESH_DELAY_MS = 150;

export interface OverviewFeedDependencies<Overview> {
  readonly read: () => Promise<Answer<Overview>>;
  readonly clock: Clock;
  readonly stream: (address: string, listener: StreamListener) => EventStream;
}

export class OverviewFeed<Overview> {
  readonly #deps: OverviewFeedDependencies<Overview>;
  #overview = $state.raw<Overview | null>(null);
  #problem = $state("");
  #feed: EventStream | null = null;
  #refreshScheduled = false;

  constructor(deps: OverviewFeedDependencies<Overview>) {
    this.#deps = deps;
  }

  /** Null before the first answer. */
  get overview(): Overview | null {
    return this.#overview;
  }

  get problem(): string {
    return this.#problem;
  }

  /** Reads the overview, and follows the event stream at this address until it is closed. */
  open(address: string, handleEvent: (data: string) => void): void {
    void this.refresh();
    this.#feed ??= this.#deps.stream(address, {
      event: handleEvent,
      // Catch up on what was missed while disconnected.
      opened: () => this.scheduleRefresh(),
    });
    this.#feed.resume();
  }

  close(): void {
    this.#feed?.close();
    this.#feed = null;
  }

  async refresh(): Promise<void> {
    const answer = await this.#deps.read();
    this.#problem = problemOf(answer);
    if (answer.kind === "ok") this.#overview = answer.value;
  }

  scheduleRefresh(): void {
    if (this.#refreshScheduled) return;
    this.#refreshScheduled = true;
    this.#deps.clock.after(REFRESH_DELAY_MS, () => {
      this.#refreshScheduled = false;
      void this.refresh();
    });
  }

  /** Shows a change that an event or an answer brought, before the overview is read again. */
  update(change: (overview: Overview) => Overview): void {
    if (this.#overview !== null) this.#overview = change(this.#overview);
  }
}
