// Plays audio that arrives in pieces: replies one after another, each from a jitter buffer, with the exact number of
// samples that were audible. Holding fades out and keeps the rest; dropping fades out and discards it. Pure: time is
// the number of rendered frames. Runs in the audio thread.
import { Resampler } from "./resampler";
import { OUTPUT_RATE } from "./samples";

/** Orders to the audio thread. */
export type PlayoutOrder =
  | { readonly kind: "begin"; readonly reply: number }
  | { readonly kind: "push"; readonly reply: number; readonly pcm: Int16Array }
  | { readonly kind: "end"; readonly reply: number }
  | { readonly kind: "hold" | "resume" | "drop"; readonly reply: number }
  /** Frames between rendering and hearing. */
  | { readonly kind: "latency"; readonly frames: number };

/** "starved": the buffer ran dry. "ended" and "dropped" are a reply's last report. */
export type PlayoutState = "buffering" | "playing" | "starved" | "held" | "ended" | "dropped";

/** Playback position of a reply, in samples of its own rate. */
export interface PlayoutReport {
  readonly reply: number;
  readonly samples: number;
  readonly state: PlayoutState;
  /** 0 to 1. */
  readonly level: number;
}

const BLOCK = 128;
/** Milliseconds. */
const HOLD_FADE_MS = 20;
const DROP_FADE_MS = 10;
const FADE_IN_MS = 5;
/** Jitter buffer: filled before a reply starts, and doubled after each underrun, since the network evidently needs
 * it. */
const INITIAL_BUFFER_MS = 40;
const MAX_BUFFER_MS = 400;
/** A reply starts after this time even if the buffer is not full. */
const MAX_START_DELAY_MS = 80;
const REPORT_INTERVAL_MS = 20;
/** Most unplayed samples: one minute. The server sends a call at most a second ahead; reading aloud may send more. */
const MAX_UNPLAYED = 60 * OUTPUT_RATE;

class Track {
  readonly reply: number;
  readonly #resampler: Resampler;
  readonly #pieces: Float32Array[] = [];
  #ready: Float32Array = new Float32Array(0);
  #at = 0;
  #emitted = 0;
  #received = 0;
  complete = false;
  #flushed = false;
  /** Frames since its first piece arrived. */
  age = 0;

  constructor(reply: number, rate: number) {
    this.reply = reply;
    this.#resampler = new Resampler(OUTPUT_RATE, rate);
  }

  get received(): number {
    return this.#received;
  }

  /** Samples received and not played. */
  get unplayed(): number {
    return this.#received - this.played;
  }

  get played(): number {
    return Math.min(this.#received, Math.floor((this.#emitted * this.#resampler.down) / this.#resampler.up));
  }

  push(pcm: Int16Array): void {
    if (this.unplayed + pcm.length > MAX_UNPLAYED) return;
    this.#received += pcm.length;
    this.#pieces.push(Float32Array.from(pcm, (value) => value / 32768));
  }

  /** The next output sample; null on underrun. */
  next(): number | null {
    while (this.#at === this.#ready.length) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.#ready = this.#resampler.push(piece);
      } else if (this.complete && !this.#flushed) {
        this.#flushed = true;
        this.#ready = this.#resampler.finish();
      } else return null;
      this.#at = 0;
    }
    this.#emitted++;
    return this.#ready[this.#at++]!;
  }

  /** Nothing can be played until another piece arrives. */
  get isEmpty(): boolean {
    return this.#pieces.length === 0 && this.#at === this.#ready.length;
  }

  get finished(): boolean {
    return this.complete && this.#flushed && this.#at === this.#ready.length;
  }

  /** Samples playable without another piece: the last ones are needed by the resampling filter. */
  get playable(): number {
    return this.complete ? this.unplayed : Math.max(0, this.unplayed - 2 * this.#resampler.half);
  }
}

export class Playout {
  readonly #rate: number;
  readonly #tracks: Track[] = [];
  #state: "buffering" | "playing" | "starved" | "held" = "buffering";
  #gain = 0;
  #targetGain = 1;
  #step = 0;
  #fading: "hold" | "drop" | null = null;
  #held: number | null = null;
  #buffer = INITIAL_BUFFER_MS;
  #last = 0;
  #latency = 0;
  /** Rendered blocks that are not audible yet, one entry per block. */
  #inFlight: PlayoutReport[] = [];
  #sinceReport = 0;
  #lastReport: PlayoutReport | null = null;
  readonly #report: (report: PlayoutReport) => void;

  /** `rate` is the output's sample rate. */
  constructor(rate: number, report: (report: PlayoutReport) => void) {
    this.#rate = rate;
    this.#report = report;
  }

  handle(order: PlayoutOrder): void {
    if (order.kind === "latency") {
      this.#latency = Math.max(0, order.frames);
      return;
    }
    const { kind, reply } = order;
    if (kind === "begin") {
      if (!this.#track(reply)) this.#tracks.push(new Track(reply, this.#rate));
      return;
    }
    const track = this.#track(reply);
    if (!track) return;
    if (kind === "push") track.push(order.pcm);
    else if (kind === "end") track.complete = true;
    else if (kind === "hold") this.#hold(reply);
    else if (kind === "resume") this.#resume(reply);
    else this.#drop(track);
  }

  /** Renders one block. */
  render(out: Float32Array): void {
    let level = 0;
    for (let at = 0; at < out.length; at++) {
      out[at] = this.#sample();
      level = Math.max(level, Math.abs(out[at]!));
    }
    this.#finishBlock(level, out.length);
  }

  #track(reply: number): Track | undefined {
    return this.#tracks.find((track) => track.reply === reply);
  }

  #frames(milliseconds: number): number {
    return (milliseconds * this.#rate) / 1000;
  }

  #fade(target: number, milliseconds: number): void {
    this.#targetGain = target;
    this.#step = (target > this.#gain ? 1 : -1) / this.#frames(milliseconds);
  }

  #hold(reply: number): void {
    this.#held = reply;
    if (this.#tracks[0]?.reply !== reply || this.#fading === "drop") return;
    if (this.#state === "playing") {
      this.#fading = "hold";
      this.#fade(0, HOLD_FADE_MS);
    } else this.#state = "held";
  }

  #resume(reply: number): void {
    if (this.#held !== reply) return;
    this.#held = null;
    if (this.#fading === "hold") {
      this.#fading = null;
      this.#fade(1, FADE_IN_MS);
    } else if (this.#state === "held") this.#state = "buffering";
  }

  #drop(track: Track): void {
    const isHeard = track === this.#tracks[0] && this.#state === "playing" && this.#gain > 0;
    if (!isHeard) return this.#remove(track);
    this.#fading = "drop";
    this.#fade(0, DROP_FADE_MS);
  }

  #remove(track: Track): void {
    if (track === this.#tracks[0]) {
      this.#state = "buffering";
      this.#fading = null;
      this.#gain = 0;
    }
    if (this.#held === track.reply) this.#held = null;
    this.#tracks.splice(this.#tracks.indexOf(track), 1);
    // Rendered audio cannot be recalled and counts as heard.
    this.#inFlight = this.#inFlight.filter(({ reply }) => reply !== track.reply);
    this.#emit({ reply: track.reply, samples: track.played, state: "dropped", level: 0 });
  }

  #sample(): number {
    const track = this.#tracks[0];
    if (!track || this.#state !== "playing") {
      // Decay to zero: a sudden step would be audible as a click.
      return (this.#last *= 0.96);
    }
    const value = track.next();
    if (value === null) {
      if (!track.complete) {
        this.#state = "starved";
        this.#gain = 0;
        this.#buffer = Math.min(MAX_BUFFER_MS, 2 * this.#buffer);
      }
      return (this.#last *= 0.96);
    }
    this.#gain += this.#step;
    if (this.#step > 0 ? this.#gain >= this.#targetGain : this.#gain <= this.#targetGain) {
      this.#gain = this.#targetGain;
      this.#step = 0;
    }
    this.#last = value * this.#gain;
    if (this.#gain === 0 && this.#fading === "drop") this.#remove(track);
    else if (this.#gain === 0 && this.#fading === "hold") {
      this.#fading = null;
      this.#state = "held";
    }
    return this.#last;
  }

  /** A reply that has run dry, such as one waiting for a tool, lets another reply play first. */
  #yieldToNext(): void {
    const first = this.#tracks[0];
    const isDry = this.#state === "starved" || this.#state === "buffering";
    if (!first || first.complete || !first.isEmpty || !isDry) return;
    const at = this.#tracks.findIndex((track) => track !== first && track.unplayed > 0);
    if (at < 0) return;
    this.#tracks.unshift(...this.#tracks.splice(at, 1));
    this.#state = "buffering";
    this.#gain = 0;
  }

  /** After each block: chooses the next reply and reports what is audible by now. */
  #finishBlock(level: number, frames: number): void {
    this.#yieldToNext();
    const track = this.#tracks[0];
    if (track) {
      this.#advance(track, frames);
      const finished = track.finished || (track.complete && track.received === 0 && this.#state !== "held");
      this.#inFlight.push({ reply: track.reply, samples: track.played, state: finished ? "ended" : this.#state, level });
      if (finished) {
        this.#tracks.shift();
        this.#state = "buffering";
        this.#gain = 0;
        this.#fading = null;
      }
    }
    const ahead = Math.round(this.#latency / BLOCK);
    this.#sinceReport += frames;
    // Time passes without a track as well: what was rendered becomes audible in the end.
    const due = track ? this.#inFlight.length - ahead : this.#inFlight.length > 0 ? 1 : 0;
    for (let count = 0; count < due; count++) this.#deliver(this.#inFlight.shift()!);
  }

  #advance(track: Track, frames: number): void {
    if (this.#state === "held" || this.#state === "playing" || track.received === 0) return;
    track.age += frames;
    const hasEnough = track.playable >= (this.#buffer * OUTPUT_RATE) / 1000;
    const waitedLong = this.#state === "buffering" && track.playable > 0 && track.age >= this.#frames(MAX_START_DELAY_MS);
    if (!hasEnough && !waitedLong && !track.complete) return;
    if (this.#held === track.reply) {
      this.#state = "held";
      return;
    }
    this.#state = "playing";
    this.#gain = 0;
    this.#fade(1, FADE_IN_MS);
  }

  #deliver(report: PlayoutReport): void {
    const isNew = this.#lastReport?.reply !== report.reply || this.#lastReport.state !== report.state;
    if (!isNew && this.#sinceReport < this.#frames(REPORT_INTERVAL_MS)) return;
    // Nothing to report while it is held or starved.
    if (!isNew && report.state !== "playing") return;
    this.#emit(report);
  }

  #emit(report: PlayoutReport): void {
    this.#sinceReport = 0;
    this.#lastReport = report;
    this.#report(report);
  }
}
