// A numbered event stream (SSE) over fetch that reconnects with `Last-Event-ID`. Owns the backoff between attempts and
// the detection of a silent connection. The browser's own EventSource hides the HTTP status, which makes "log in" and
// "gone" look like a network failure.
import type { Clock } from "./clock";
import { errorBodyOf, type Fetch } from "./http";

/** Parses SSE lines into event data; chunks may end anywhere. Comments and unknown fields are skipped. */
export class SseParser {
  #rest = "";
  #id: string;
  #data: string[] = [];
  /** The id of the last complete event, also of one without data: where to resume. */
  last: string;

  constructor(last = "") {
    this.#id = this.last = last;
  }

  feed(piece: string): string[] {
    const events: string[] = [];
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const rawLine of lines) {
      const line = rawLine.endsWith("\r") ? rawLine.slice(0, -1) : rawLine;
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
  /** Connected, for the first time or again. */
  opened?(): void;
  /** The connection was lost; a retry is scheduled. */
  lost?(): void;
  /** The server refused (4xx): no further events until `resume`. */
  refused?(status: number, message: string): void;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5000;
/** The server sends at least a comment every 15 s. */
const SILENCE_TIMEOUT_MS = 40_000;

export class EventStream {
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #address: string;
  readonly #listener: StreamListener;
  #last = "";
  #abort: AbortController | null = null;
  #cancelRetry: (() => void) | null = null;
  #cancelSilenceTimer: (() => void) | null = null;
  #failures = 0;
  #state: "open" | "paused" | "closed" = "paused";

  constructor(fetch: Fetch, clock: Clock, address: string, listener: StreamListener) {
    this.#fetch = fetch;
    this.#clock = clock;
    this.#address = address;
    this.#listener = listener;
  }

  /** Connects; a scheduled retry happens at once. */
  resume(): void {
    if (this.#state === "closed" || this.#abort) return;
    this.#state = "open";
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    void this.#connect();
  }

  /** Disconnects until `resume`. Nothing is missed: the server replays from the last event id. */
  pause(): void {
    if (this.#state === "closed") return;
    this.#state = "paused";
    this.#disconnect();
  }

  close(): void {
    this.#state = "closed";
    this.#disconnect();
  }

  #disconnect(): void {
    this.#cancelRetry?.();
    this.#cancelSilenceTimer?.();
    this.#cancelRetry = this.#cancelSilenceTimer = null;
    this.#abort?.abort();
    this.#abort = null;
  }

  async #connect(): Promise<void> {
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
        const { message } = errorBodyOf(response.status, await response.text());
        if (!current()) return;
        // Paused rather than closed: `resume` tries again, since the user may have logged in meanwhile.
        this.pause();
        return this.#listener.refused?.(response.status, message);
      }
      if (response.ok && response.body) await this.#read(response.body, current);
    } catch {
      // The connection broke or was never made; the retry below handles both.
    }
    if (!current()) return;
    abort.abort();
    this.#disconnect();
    this.#listener.lost?.();
    // The listener may have paused or closed the stream in `lost`.
    if (this.#state === "open") this.#retryLater();
  }

  async #read(body: ReadableStream<Uint8Array>, current: () => boolean): Promise<void> {
    const parser = new SseParser(this.#last);
    const decoder = new TextDecoder();
    const reader = body.getReader();
    this.#restartSilenceTimer();
    this.#listener.opened?.();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !current()) return;
      this.#restartSilenceTimer();
      const events = parser.feed(decoder.decode(value, { stream: true }));
      this.#last = parser.last;
      for (const data of events) {
        this.#failures = 0;
        this.#listener.event(data);
        if (!current()) return;
      }
    }
  }

  #restartSilenceTimer(): void {
    this.#cancelSilenceTimer?.();
    this.#cancelSilenceTimer = this.#clock.after(SILENCE_TIMEOUT_MS, () => this.#abort?.abort());
  }

  #retryLater(): void {
    const delay = Math.min(FIRST_RETRY_MS * 2 ** this.#failures++, LONGEST_RETRY_MS);
    this.#cancelRetry = this.#clock.after(delay, () => {
      this.#cancelRetry = null;
      this.resume();
    });
  }
}
