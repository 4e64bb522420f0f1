// Recordings of calls: the list, one recording's timeline and its waveform. Types and client. Times in milliseconds.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

export type RecordingEnd = "" | "ended" | "stopped" | "cut" | "disk_full" | "slow_disk" | "full" | "failed";

export interface RecordingRow {
  readonly id: string;
  readonly kind: "call" | "duplex" | "chat";
  readonly title: string;
  readonly created: number;
  readonly duration: number;
  /** Bytes. */
  readonly size: number;
  readonly frames: number;
  /** Empty while it runs. */
  readonly ended: RecordingEnd;
}

export interface RecordingList {
  readonly recordings: readonly RecordingRow[];
  /** Whether this server can record. */
  readonly allowed: boolean;
  readonly bytes: number;
  readonly limit: number;
  readonly keep_days: number;
}

export interface RecordedLine {
  readonly side: "caller" | "assistant";
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly turn: number | null;
  readonly reply: number | null;
  /** The part of the reply that was not heard. */
  readonly unheard: string;
}

export const STAGES = ["endpoint", "transcript", "first_text", "first_clause", "first_sound", "first_heard", "interrupted"] as const;

export type Stage = (typeof STAGES)[number];

export interface RecordedLatency {
  readonly at: number;
  readonly turn: number;
  /** From the end of the caller's speech; null for a stage that was not reached. */
  readonly figures: Readonly<Record<Stage, number | null>>;
}

export interface RecordedFrame {
  readonly at: number;
  readonly index: number;
}

export interface Recording {
  readonly lines: readonly RecordedLine[];
  readonly latencies: readonly RecordedLatency[];
  readonly frames: readonly RecordedFrame[];
  readonly duration: number;
}

/** The loudest sample of each side in every bin, 0 to 255. */
export interface Waveform {
  readonly caller: readonly number[];
  readonly assistant: readonly number[];
}

const address = (id: string) => `api/recordings/${encodeURIComponent(id)}`;

export const soundAddress = (id: string) => `${address(id)}/sound`;
export const webmAddress = (id: string) => `${address(id)}/sound?format=webm&download=1`;
export const timelineAddress = (id: string) => `${address(id)}?download=1`;
export const frameAddress = (id: string, index: number) => `${address(id)}/frames/${index}`;

export class RecordingsClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  list(): Promise<Answer<RecordingList>> {
    return request(this.#fetch, "api/recordings");
  }

  open(id: string): Promise<Answer<Recording>> {
    return request(this.#fetch, address(id));
  }

  waveform(id: string, bins: number): Promise<Answer<Waveform>> {
    return request(this.#fetch, `${address(id)}/peaks?bins=${bins}`);
  }

  remove(id: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", address(id));
  }
}
