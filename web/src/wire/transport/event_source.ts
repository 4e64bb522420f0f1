// A kept stream of numbered events (SSE) by fetch: where it broke off it goes on, after the last number heard. Owns
// opening it again, ever more slowly, and noticing that it went silent. Knows no event. (The browser's own EventSource
// tells no status, so that "log in" and "gone" look like a bad line.)
import type { Clock } from "./clock";
import { type Fetch, refusalOf } from "./http";

/** The lines of a stream as the data of its events; pieces may end anywhere. Comments and other fields are skipped. */
export class EventParser {
  #rest = "";
  #id: string;
  #data: string[] = [];
  /** The number of the last whole event, also of one without data: where to go on from. */
  last: string;

  constructor(last = "") {
    this.#id = this.last = last;
  }

  feed(piece: string): string[] {
    const events: string[] = [];
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const ended of lines) {
      const line = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
      if (line === "") {
        if (this.#data.length > 0) events.push(this.#data.join("\n"));
        this.#data = [];
        this.last = this.#id;
        continue;
      }
      const colon = line.indexOf(":");
      if (colon <= 0) continue;
      const value = line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
      if (line.startsWith("id:")) this.#id = value;
      else if (line.startsWith("data:")) this.#data.push(value);
    }
    return events;
  }
}

export interface StreamListener {
  event(data: string): void;
  /** The line is there (again). */
  opened?(): void;
  /** The line is gone; it is being opened again. */
  lost?(): void;
  /** The server will not: nothing more comes. */
  refused?(status: number, message: string): void;
}

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
/** The server says something, be it a comment, every 15 s. */
const SILENCE = 40_000;

export class EventStream {
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #address: string;
  readonly #listener: StreamListener;
  #last = "";
  #abort: AbortController | null = null;
  #callOff: (() => void) | null = null;
  #watch: (() => void) | null = null;
  #failures = 0;
  #state: "open" | "asleep" | "closed" = "asleep";

  constructor(fetch: Fetch, clock: Clock, address: string, listener: StreamListener) {
    this.#fetch = fetch;
    this.#clock = clock;
    this.#address = address;
    this.#listener = listener;
  }

  /** Open it, or, when it waits to be opened again, do that now. */
  wake(): void {
    if (this.#state === "closed" || this.#abort) return;
    this.#state = "open";
    this.#callOff?.();
    this.#callOff = null;
    void this.#listen();
  }

  /** Let the line go until woken; nothing is missed. */
  sleep(): void {
    if (this.#state === "closed") return;
    this.#state = "asleep";
    this.#let();
  }

  close(): void {
    this.#state = "closed";
    this.#let();
  }

  #let(): void {
    this.#callOff?.();
    this.#watch?.();
    this.#callOff = this.#watch = null;
    this.#abort?.abort();
    this.#abort = null;
  }

  async #listen(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    const current = () => this.#abort === abort;
    try {
      const response = await this.#fetch(this.#address, {
        credentials: "same-origin",
        cache: "no-store",
        signal: abort.signal,
        headers: { Accept: "text/event-stream", ...(this.#last === "" ? {} : { "Last-Event-ID": this.#last }) },
      });
      if (!current()) return;
      if (response.status >= 400 && response.status < 500 && response.status !== 429) {
        const { message } = refusalOf(response.status, await response.text());
        if (!current()) return;
        // Woken, it tries once more: somebody may have logged in.
        this.sleep();
        return this.#listener.refused?.(response.status, message);
      }
      if (response.ok && response.body) await this.#read(response.body, current);
    } catch {
      // The line broke, or never came to be: below.
    }
    if (!current()) return;
    abort.abort();
    this.#let();
    this.#listener.lost?.();
    // Whoever heard of it may have had enough.
    if (this.#state === "open") this.#again();
  }

  async #read(body: ReadableStream<Uint8Array>, current: () => boolean): Promise<void> {
    const parser = new EventParser(this.#last);
    const decoder = new TextDecoder();
    const reader = body.getReader();
    this.#heard();
    this.#listener.opened?.();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !current()) return;
      this.#heard();
      const events = parser.feed(decoder.decode(value, { stream: true }));
      this.#last = parser.last;
      for (const data of events) {
        this.#failures = 0;
        this.#listener.event(data);
        if (!current()) return;
      }
    }
  }

  #heard(): void {
    this.#watch?.();
    this.#watch = this.#clock.after(SILENCE, () => this.#abort?.abort());
  }

  #again(): void {
    const wait = Math.min(FIRST_WAIT * 2 ** this.#failures++, LONGEST_WAIT);
    this.#callOff = this.#clock.after(wait, () => {
      this.#callOff = null;
      this.wake();
    });
  }
}
