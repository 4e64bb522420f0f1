// Following a run, from its beginning to its end, over however many connections that takes. Owns the stream and the
// pace of drawing: at most once a frame, however fast the run writes. Knows no conversation.
import type { Clock } from "../../wire/transport/clock";
import type { EventStream, StreamListener } from "../../wire/transport/event_stream";
import { applyEvent, readEvent, type RunView, EMPTY_RUN } from "../../wire/runs";
import { nextProgress, initialProgress, type ReplyProgress } from "./pulse";

const MUTE = 1;

export interface Watching {
  drawn(view: RunView, progress: ReplyProgress): void;
  ended(view: RunView): void;
  /** The server can be heard, or not any more. */
  connected(there: boolean): void;
  /** The server does not know this run, or not us; or not as much of it as was heard here. */
  refused(): void;
}

export class RunViewer {
  readonly run: string;
  readonly #clock: Clock;
  readonly #watching: Watching;
  readonly #stream: EventStream;
  #view: RunView = EMPTY_RUN;
  #progress: ReplyProgress;
  #frameAsked = false;
  #closed = false;
  #connected = false;
  /** How often in a row the line was there, and not a word came. */
  #mute = 0;

  constructor(run: string, clock: Clock, open: (address: string, listener: StreamListener) => EventStream, watching: Watching) {
    this.run = run;
    this.#clock = clock;
    this.#watching = watching;
    this.#progress = initialProgress(clock.now());
    this.#stream = open(`api/runs/${run}/events`, {
      event: (data) => this.#heard(data),
      opened: () => this.#line(true),
      lost: () => this.#line(false),
      refused: () => this.#refused(),
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

  #line(there: boolean): void {
    // A server that lost its last moment with its process has ended the run at a number that was heard here already.
    if (!there && this.#connected && ++this.#mute > MUTE) return this.#refused();
    this.#connected = there;
    this.#watching.connected(there);
  }

  #refused(): void {
    this.close();
    this.#watching.refused();
  }

  #heard(data: string): void {
    const event = readEvent(data);
    if (!event || this.#closed) return;
    this.#mute = 0;
    this.#view = applyEvent(this.#view, event);
    this.#progress = nextProgress(this.#progress, event, this.#clock.now());
    if (!this.#view.done) return this.#drawSoon();
    // The end is drawn at once: in a hidden tab no frame comes.
    this.#watching.drawn(this.#view, this.#progress);
    this.close();
    this.#watching.ended(this.#view);
  }

  #drawSoon(): void {
    if (this.#frameAsked) return;
    this.#frameAsked = true;
    this.#clock.frame(() => {
      this.#frameAsked = false;
      if (!this.#closed) this.#watching.drawn(this.#view, this.#progress);
    });
  }
}
