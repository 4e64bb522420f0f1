// Following a run, from its beginning to its end, over however many connections that takes. Owns the stream and the
// pace of drawing: at most once a frame, however fast the run writes. Knows no conversation.
import type { Clock } from "../../wire/transport/clock";
import type { EventStream, StreamListener } from "../../wire/transport/event_stream";
import { applyEvent, readEvent, type RunView, EMPTY_RUN } from "../../wire/runs";
import { nextProgress, initialProgress, type ReplyProgress } from "./progress";

const MAX_SILENT_CONNECTIONS = 1;

export interface RunObserver {
  onDraw(view: RunView, progress: ReplyProgress): void;
  onEnd(view: RunView): void;
  /** The server can be heard, or not any more. */
  onConnection(isConnected: boolean): void;
  /** The server does not know this run, or not us; or not as much of it as was heard here. */
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
  /** How often in a row the line was there, and not a word came. */
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

  /** Whether the server can be heard at the moment. */
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
    // A server that lost its last moment with its process has ended the run at a number that was heard here already.
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
    // The end is drawn at once: in a hidden tab no frame comes.
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
