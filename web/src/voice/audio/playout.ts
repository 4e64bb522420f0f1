// Playing what comes in pieces: replies one after another, each from a buffer that bridges a late piece, with the exact
// number of its samples that were heard. Holding fades out and keeps the rest; dropping fades out and forgets it. Pure:
// time is the frames that are asked for. Runs in the audio thread.
import { Resampler } from "./resampling";
import { SPOKEN_RATE } from "./samples";

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
const HOLD_FADE = 20;
const DROP_FADE = 10;
const RISE = 5;
/** What is gathered before a reply begins, and again when it ran dry: more each time, for this network needs it. */
const FIRST_BUFFER = 40;
const MOST_BUFFER = 400;
/** A beginning waits no longer for more. */
const PATIENCE = 80;
const REPORT_EVERY = 20;
/** Samples that wait at most: a minute. The server sends a second ahead, a speech that was asked for whole as it likes. */
const MOST_WAITING = 60 * SPOKEN_RATE;

class Track {
  readonly reply: number;
  readonly #resampler: Resampler;
  readonly #pieces: Float32Array[] = [];
  #ready: Float32Array = new Float32Array(0);
  #at = 0;
  #emitted = 0;
  #came = 0;
  complete = false;
  #flushed = false;
  /** Frames since its first piece. */
  age = 0;

  constructor(reply: number, rate: number) {
    this.reply = reply;
    this.#resampler = new Resampler(SPOKEN_RATE, rate);
  }

  get came(): number {
    return this.#came;
  }

  /** Samples that have come and not been played. */
  get waiting(): number {
    return this.#came - this.played;
  }

  get played(): number {
    return Math.min(this.#came, Math.floor((this.#emitted * this.#resampler.down) / this.#resampler.up));
  }

  push(pcm: Int16Array): void {
    if (this.waiting + pcm.length > MOST_WAITING) return;
    this.#came += pcm.length;
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

  get over(): boolean {
    return this.complete && this.#flushed && this.#at === this.#ready.length;
  }

  /** What can be played without another piece, in samples: the last of it waits in the low-pass. */
  get playable(): number {
    return this.complete ? this.waiting : Math.max(0, this.waiting - 2 * this.#resampler.half);
  }
}

export class Playout {
  readonly #rate: number;
  readonly #tracks: Track[] = [];
  #state: "buffering" | "playing" | "starved" | "held" = "buffering";
  #gain = 0;
  #aim = 1;
  #step = 0;
  #fading: "hold" | "drop" | null = null;
  #held: number | null = null;
  #buffer = FIRST_BUFFER;
  #last = 0;
  #latency = 0;
  /** What was rendered and is on its way to the ear, one entry a block. */
  #tape: PlayoutReport[] = [];
  #sinceReport = 0;
  #said: PlayoutReport | null = null;
  readonly #report: (report: PlayoutReport) => void;

  /** `rate` is the loudspeaker's. */
  constructor(rate: number, report: (report: PlayoutReport) => void) {
    this.#rate = rate;
    this.#report = report;
  }

  take(order: PlayoutOrder): void {
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
    let loud = 0;
    for (let at = 0; at < out.length; at++) {
      out[at] = this.#sample();
      loud = Math.max(loud, Math.abs(out[at]!));
    }
    this.#settle(loud, out.length);
  }

  #track(reply: number): Track | undefined {
    return this.#tracks.find((track) => track.reply === reply);
  }

  #frames(milliseconds: number): number {
    return (milliseconds * this.#rate) / 1000;
  }

  #fade(aim: number, milliseconds: number): void {
    this.#aim = aim;
    this.#step = (aim > this.#gain ? 1 : -1) / this.#frames(milliseconds);
  }

  #hold(reply: number): void {
    this.#held = reply;
    if (this.#tracks[0]?.reply !== reply || this.#fading === "drop") return;
    if (this.#state === "playing") {
      this.#fading = "hold";
      this.#fade(0, HOLD_FADE);
    } else this.#state = "held";
  }

  #resume(reply: number): void {
    if (this.#held !== reply) return;
    this.#held = null;
    if (this.#fading === "hold") {
      this.#fading = null;
      this.#fade(1, RISE);
    } else if (this.#state === "held") this.#state = "buffering";
  }

  #drop(track: Track): void {
    const isHeard = track === this.#tracks[0] && this.#state === "playing" && this.#gain > 0;
    if (!isHeard) return this.#forget(track);
    this.#fading = "drop";
    this.#fade(0, DROP_FADE);
  }

  #forget(track: Track): void {
    if (track === this.#tracks[0]) {
      this.#state = "buffering";
      this.#fading = null;
      this.#gain = 0;
    }
    if (this.#held === track.reply) this.#held = null;
    this.#tracks.splice(this.#tracks.indexOf(track), 1);
    // What is on its way to the ear cannot be called back: it is heard.
    this.#tape = this.#tape.filter(({ reply }) => reply !== track.reply);
    this.#say({ reply: track.reply, samples: track.played, state: "dropped", level: 0 });
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
        this.#buffer = Math.min(MOST_BUFFER, 2 * this.#buffer);
      }
      return (this.#last *= 0.96);
    }
    this.#gain += this.#step;
    if (this.#step > 0 ? this.#gain >= this.#aim : this.#gain <= this.#aim) {
      this.#gain = this.#aim;
      this.#step = 0;
    }
    this.#last = value * this.#gain;
    if (this.#gain === 0 && this.#fading === "drop") this.#forget(track);
    else if (this.#gain === 0 && this.#fading === "hold") {
      this.#fading = null;
      this.#state = "held";
    }
    return this.#last;
  }

  /** A reply that has nothing more for now, such as one that waits for a tool, lets another one sound before it goes on. */
  #yield(): void {
    const first = this.#tracks[0];
    const dry = this.#state === "starved" || this.#state === "buffering";
    if (!first || first.complete || !first.isEmpty || !dry) return;
    const at = this.#tracks.findIndex((track) => track !== first && track.waiting > 0);
    if (at < 0) return;
    this.#tracks.unshift(...this.#tracks.splice(at, 1));
    this.#state = "buffering";
    this.#gain = 0;
  }

  /** After a block: whose turn it is, and what is heard by now. */
  #settle(level: number, frames: number): void {
    this.#yield();
    const track = this.#tracks[0];
    if (track) {
      this.#advance(track, frames);
      const over = track.over || (track.complete && track.came === 0 && this.#state !== "held");
      this.#tape.push({ reply: track.reply, samples: track.played, state: over ? "ended" : this.#state, level });
      if (over) {
        this.#tracks.shift();
        this.#state = "buffering";
        this.#gain = 0;
        this.#fading = null;
      }
    }
    const ahead = Math.round(this.#latency / BLOCK);
    this.#sinceReport += frames;
    // Without a track time goes on all the same: what was rendered is heard in the end.
    const due = track ? this.#tape.length - ahead : this.#tape.length > 0 ? 1 : 0;
    for (let count = 0; count < due; count++) this.#hear(this.#tape.shift()!);
  }

  #advance(track: Track, frames: number): void {
    if (this.#state === "held" || this.#state === "playing" || track.came === 0) return;
    track.age += frames;
    const enough = track.playable >= (this.#buffer * SPOKEN_RATE) / 1000;
    const waited = this.#state === "buffering" && track.playable > 0 && track.age >= this.#frames(PATIENCE);
    if (!enough && !waited && !track.complete) return;
    if (this.#held === track.reply) {
      this.#state = "held";
      return;
    }
    this.#state = "playing";
    this.#gain = 0;
    this.#fade(1, RISE);
  }

  #hear(report: PlayoutReport): void {
    const news = this.#said?.reply !== report.reply || this.#said.state !== report.state;
    if (!news && this.#sinceReport < this.#frames(REPORT_EVERY)) return;
    // Nothing changes while it is held or late.
    if (!news && report.state !== "playing") return;
    this.#say(report);
  }

  #say(report: PlayoutReport): void {
    this.#sinceReport = 0;
    this.#said = report;
    this.#report(report);
  }
}
