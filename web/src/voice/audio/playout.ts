// Playing what comes in pieces: replies one after another, each from a buffer that bridges a late piece, with the exact
// number of its samples that were heard. Holding fades out and keeps the rest; dropping fades out and forgets it. Pure:
// time is the frames that are asked for. Runs in the audio thread.
import { Resampler } from "./resampler";
import { OUTPUT_RATE } from "./samples";

/** What the audio thread is told. */
export type PlayoutOrder =
  | { readonly kind: "begin"; readonly reply: number }
  | { readonly kind: "push"; readonly reply: number; readonly pcm: Int16Array }
  | { readonly kind: "end"; readonly reply: number }
  | { readonly kind: "hold" | "resume" | "drop"; readonly reply: number }
  /** Frames between what is rendered and what is heard. */
  | { readonly kind: "latency"; readonly frames: number };

/** "starved": its next piece is late. "ended" and "dropped" are the last that is said of a reply. */
export type PlayoutState = "buffering" | "playing" | "starved" | "held" | "ended" | "dropped";

/** How far a reply was heard, in samples of its own. */
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
/** What is gathered before a reply begins, and again when it ran dry: more each time, for this network needs it. */
const INITIAL_BUFFER_MS = 40;
const MAX_BUFFER_MS = 400;
/** A beginning waits no longer for more. */
const MAX_START_DELAY_MS = 80;
const REPORT_INTERVAL_MS = 20;
/** Samples that wait at most: a minute. The server sends a second ahead, a speech that was asked for whole as it likes. */
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
  /** Frames since its first piece. */
  age = 0;

  constructor(reply: number, rate: number) {
    this.reply = reply;
    this.#resampler = new Resampler(OUTPUT_RATE, rate);
  }

  get received(): number {
    return this.#received;
  }

  /** Samples that have come and not been played. */
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

  /** The next sample for the loudspeaker; null where none is there. */
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

  /** Nothing can be played before another piece comes. */
  get isEmpty(): boolean {
    return this.#pieces.length === 0 && this.#at === this.#ready.length;
  }

  get finished(): boolean {
    return this.complete && this.#flushed && this.#at === this.#ready.length;
  }

  /** What can be played without another piece, in samples: the last of it waits in the low-pass. */
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
  /** What was rendered and is on its way to the ear, one entry a block. */
  #inFlight: PlayoutReport[] = [];
  #sinceReport = 0;
  #lastReport: PlayoutReport | null = null;
  readonly #report: (report: PlayoutReport) => void;

  /** `rate` is the loudspeaker's. */
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

  /** Fill one block for the loudspeaker. */
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
    // What is on its way to the ear cannot be called back: it is heard.
    this.#inFlight = this.#inFlight.filter(({ reply }) => reply !== track.reply);
    this.#emit({ reply: track.reply, samples: track.played, state: "dropped", level: 0 });
  }

  #sample(): number {
    const track = this.#tracks[0];
    if (!track || this.#state !== "playing") {
      // Where sound broke off it dies away: a step would be a click.
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

  /** A reply that has nothing more for now, such as one that waits for a tool, lets another one sound before it goes on. */
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

  /** After a block: whose turn it is, and what is heard by now. */
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
    // Without a track time goes on all the same: what was rendered is heard in the end.
    const count_ = track ? this.#inFlight.length - ahead : this.#inFlight.length > 0 ? 1 : 0;
    for (let count = 0; count < count_; count++) this.#deliver(this.#inFlight.shift()!);
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
    // Nothing changes while it is held or late.
    if (!isNew && report.state !== "playing") return;
    this.#emit(report);
  }

  #emit(report: PlayoutReport): void {
    this.#sinceReport = 0;
    this.#lastReport = report;
    this.#report(report);
  }
}
