// Follows a run to its end, across reconnects, and draws at most once per frame however fast the run writes.
import type { Clock } from "../../wire/transport/clock";
import type { EventStream, StreamListener } from "../../wire/transport/event_stream";
import { applyEvent, EMPTY_RUN, readEvent, type RunView } from "../../wire/chat/runs";
import { initialProgress, nextProgress, type ReplyProgress } from "./progress";

const MAX_SILENT_CONNECTIONS = 1;

export interface RunObserver {
  onDraw(view: RunView, progress: ReplyProgress): void;
  onEnd(view: RunView): void;
  /** The connection was made or lost. */
  onConnection(isConnected: boolean): void;
  /** The run is unknown, not accessible, or its log ends before an event that was already received. */
  onRefused(): void;
}

export class RunViewer {
  readonly run: string;
  readonly #clock: Clock;
  readonly #observer: RunObserver;
  readonly #stream: EventStream;
  #view: RunView = EMPTY_RUN;
  #progress: ReplyProgress;
  #frameScheduled = false;
  #closed = false;
  #connected = false;
  /** Consecutive connections that brought no event. */
  #silentConnections = 0;

  constructor(run: string, clock: Clock, openStream: (address: string, listener: StreamListener) => EventStream, observer: RunObserver) {
    this.run = run;
    this.#clock = clock;
    this.#observer = observer;
    this.#progress = initialProgress(clock.now());
    this.#stream = openStream(`api/runs/${run}/events`, {
      event: (data) => this.#handle(data),
      opened: () => this.#setConnected(true),
      lost: () => this.#setConnected(false),
      refused: () => this.#refuse(),
    });
    this.#stream.resume();
  }

  /** Whether the stream is connected. */
  get connected(): boolean {
    return this.#connected;
  }

  resume(): void {
    this.#stream.resume();
  }

  pause(): void {
    this.#stream.pause();
  }

  close(): void {
    this.#closed = true;
    this.#stream.close();
  }

  #setConnected(isConnected: boolean): void {
    // A server that was killed may have lost the last events of this run. Its log then ends at a number this page has
    // already seen, and every connection closes without an event. Waiting longer cannot help, so the run is reloaded
    // instead.
    if (!isConnected && this.#connected && ++this.#silentConnections > MAX_SILENT_CONNECTIONS) return this.#refuse();
    this.#connected = isConnected;
    this.#observer.onConnection(isConnected);
  }

  #refuse(): void {
    this.close();
    this.#observer.onRefused();
  }

  #handle(data: string): void {
    const event = readEvent(data);
    if (!event || this.#closed) return;
    this.#silentConnections = 0;
    this.#view = applyEvent(this.#view, event);
    this.#progress = nextProgress(this.#progress, event, this.#clock.now());
    if (!this.#view.done) return this.#scheduleDraw();
    // A hidden tab gets no animation frames, so the end is drawn directly.
    this.#observer.onDraw(this.#view, this.#progress);
    this.close();
    this.#observer.onEnd(this.#view);
  }

  #scheduleDraw(): void {
    if (this.#frameScheduled) return;
    this.#frameScheduled = true;
    this.#clock.frame(() => {
      this.#frameScheduled = false;
      if (!this.#closed) this.#observer.onDraw(this.#view, this.#progress);
    });
  }
}
