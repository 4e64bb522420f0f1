// Decides which frame of a face's video is shown, and which frames are decoded for it: those of the reply by the sample that is audible,
// otherwise the loop of the face at rest, at the moment where the reply left it. What was dropped is never shown. Pure: the time is a
// function, and pictures are only closed here.
import type { PlayoutReport } from "../audio/playout";
import { OUTPUT_RATE } from "../audio/samples";
import type { EncodedFrame } from "./segment";

/** A decoded frame. It holds memory until it is closed. */
export interface Picture {
  close(): void;
}

export type Track = "lips" | "idle";

/** A frame to decode. The picture comes back with its `ticket`. */
export interface DueFrame {
  readonly ticket: number;
  readonly track: Track;
  readonly frame: EncodedFrame;
}

interface Decoded<P> {
  readonly picture: P;
  /** Null: of the loop. */
  readonly reply: number | null;
  readonly sample: number;
  readonly clock: number;
}

/** Most frames of a track that are decoded and not shown, or being decoded: decoders have few pictures. */
export const DEPTH = 6;
/** Most encoded frames kept of a reply; the server sends two seconds ahead. */
export const MAX_WAITING = 600;
const MAX_REPLIES = 4;
const MAX_LOOP_BYTES = 24 * 2 ** 20;
/** Replies that are over, remembered: of these nothing is taken any more. */
const REMEMBERED = 32;
/** The position goes on this long without a report (they come every 20 ms). */
const MAX_AHEAD_MS = 40;
/** Lips without new frames for so long give way to the loop. */
const LATE_SAMPLES = OUTPUT_RATE / 2;
const STARVED_MS = 200;
/** Frames of the loop decoded ahead, and how far behind it may be shown. */
const LOOP_AHEAD = 3;
const LOOP_BEHIND = 5;
/** Seconds that the loop waits rather than beginning anew, where it is ahead. */
const LOOP_WAITS_S = 4;
/** From the arrival of a reply's first frames to its first sample: the loop has moved to their moment by then. */
const LEAD_MS = 80;
/** The loop is that much faster or slower meanwhile. */
const SLEW = 0.5;

export class FilmSchedule<P extends Picture> {
  readonly #now: () => number;
  #rate = 25;
  /** The face's clock: its frame at a time, and how many frames it still has to catch up with. */
  #anchor = { frame: 0, at: 0, slew: 0 };
  #loop: readonly EncodedFrame[] = [];
  /** The next frame of the loop to decode, on the face's clock; null: none was. */
  #cursor: number | null = null;
  readonly #waiting = new Map<number, EncodedFrame[]>();
  readonly #over = new Set<number>();
  #dropped = -1;
  #report: PlayoutReport | null = null;
  #reportedAt = 0;
  #tickets = 0;
  readonly #pending = new Map<number, Omit<Decoded<P>, "picture">>();
  #decoded: Decoded<P>[] = [];
  #shown: Decoded<P> | null = null;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
    this.begin();
  }

  /** The face's clock is at 0. */
  begin(): void {
    this.#anchor = { frame: 0, at: this.#now(), slew: 0 };
  }

  /** The face at rest, once around. One that is too large is ignored. */
  setLoop(frames: readonly EncodedFrame[], rate: number): void {
    if (frames.length === 0 || frames.reduce((sum, { data }) => sum + data.length, 0) > MAX_LOOP_BYTES) return;
    this.#rate = rate;
    this.#loop = frames;
    this.#restartLoop(null);
  }

  /** More frames of a reply, in order. */
  add(reply: number, frames: readonly EncodedFrame[], rate: number): void {
    if (frames.length === 0 || this.#isOver(reply)) return;
    this.#rate = rate;
    const known = this.#waiting.get(reply);
    if ((known?.length ?? 0) + frames.length > MAX_WAITING) return;
    if (!known) this.#join(frames[0]!.clock);
    this.#waiting.set(reply, [...(known ?? []), ...frames]);
    const oldest = this.#waiting.keys().next();
    if (this.#waiting.size > MAX_REPLIES && !oldest.done) this.#waiting.delete(oldest.value);
  }

  /** What the player reports of the sound. */
  onReport(report: PlayoutReport): void {
    if (this.#isOver(report.reply)) return;
    this.#report = report;
    this.#reportedAt = this.#now();
    if (report.state === "ended" || report.state === "dropped") this.#end(report.reply);
  }

  /** This reply and those before it are not shown any more. */
  drop(reply: number): void {
    this.#dropped = Math.max(this.#dropped, reply);
    for (const known of [...this.#waiting.keys()]) if (known <= reply) this.#waiting.delete(known);
    this.#forget((of) => of !== null && of <= reply);
    if (this.#report && this.#report.reply <= reply) this.#report = null;
  }

  /** There is no video any more, or a new connection, whose replies are numbered anew. */
  clear(): void {
    this.#waiting.clear();
    this.#over.clear();
    this.#dropped = -1;
    this.#report = null;
    this.#loop = [];
    this.#cursor = null;
    this.#forget(() => true);
    this.#show(null);
  }

  /** The frames to decode now, in order. */
  due(): DueFrame[] {
    return [...this.#dueLips(), ...this.#dueLoop()];
  }

  /** A frame was decoded. It is closed if it is not wanted any more. */
  decoded(ticket: number, picture: P): void {
    const known = this.#pending.get(ticket);
    this.#pending.delete(ticket);
    if (!known) return picture.close();
    this.#decoded.push({ ...known, picture });
    this.#prune();
  }

  /** The picture for the screen at this moment, valid until the next call; null: there is none. */
  shown(): P | null {
    this.#prune();
    const lips = this.#lipsAt();
    if (lips) return lips.picture;
    const target = this.#clock();
    const resting = this.#shown?.reply === null;
    const found = this.#newest((frame) => frame.reply === null && frame.clock <= target);
    // While it hurries to its moment, it is not shown, unless a mouth would be left standing.
    const isNear = found !== null && target - found.clock <= LOOP_BEHIND;
    const next = found ?? (resting ? null : this.#newest((frame) => frame.reply === null));
    if (next && (isNear || (this.#shown !== null && !resting))) this.#take(next);
    else if (!resting) this.#show(null);
    return this.#shown?.picture ?? null;
  }

  /** Whether the picture on the screen is of a reply. */
  get speaking(): boolean {
    return this.#shown !== null && this.#shown.reply !== null;
  }

  /** The number of the frame on the screen, on the face's clock. */
  get frame(): number | null {
    return this.#shown?.clock ?? null;
  }

  // ---- the reply

  #isOver(reply: number): boolean {
    return reply <= this.#dropped || this.#over.has(reply);
  }

  #end(reply: number): void {
    this.#over.add(reply);
    if (this.#over.size > REMEMBERED) this.#over.delete(this.#over.values().next().value!);
    this.#waiting.delete(reply);
    this.#forget((of) => of === reply);
    this.#report = null;
  }

  /** The picture of the reply that is audible, put on the screen; null: the face is at rest. */
  #lipsAt(): Decoded<P> | null {
    const report = this.#report;
    if (report === null || !this.#isHeard(report)) return null;
    const { reply } = report;
    const position = this.#position(report);
    const next = this.#newest((frame) => frame.reply === reply && frame.sample <= position);
    const shown = this.#shown?.reply === reply ? this.#shown : null;
    const found = next ?? shown;
    if (found === null || (report.state === "playing" && position - found.sample > LATE_SAMPLES)) return null;
    if (next) {
      this.#take(next);
      this.#anchor = { frame: next.clock, at: this.#now(), slew: 0 };
    }
    return found;
  }

  /** Whether it has begun, and has not run dry for long. */
  #isHeard({ state, samples }: PlayoutReport): boolean {
    if (state === "playing" || state === "held") return true;
    return samples > 0 && this.#now() - this.#reportedAt <= STARVED_MS;
  }

  #position({ state, samples }: PlayoutReport): number {
    const elapsed = state === "playing" ? Math.min(this.#now() - this.#reportedAt, MAX_AHEAD_MS) : 0;
    return samples + (elapsed * OUTPUT_RATE) / 1000;
  }

  #dueLips(): DueFrame[] {
    const reply = this.#report?.reply ?? Math.min(...this.#waiting.keys());
    const waiting = this.#waiting.get(reply);
    if (!waiting) return [];
    const position = this.#report ? this.#position(this.#report) : 0;
    // A whole segment whose time has passed is not decoded.
    const from = waiting.findLastIndex(({ key, sample }, at) => at > 0 && key && sample <= position);
    if (from > 0) waiting.splice(0, from);
    const frames = waiting.splice(0, Math.max(0, DEPTH - this.#held((of) => of === reply)));
    return frames.map((frame) => this.#order("lips", reply, frame, frame.clock));
  }

  // ---- the loop

  /** The face's clock at this moment, in frames. */
  #clock(later = 0): number {
    const { frame, at, slew } = this.#anchor;
    const elapsed = ((this.#now() + later - at) * this.#rate) / 1000;
    return frame + elapsed + Math.sign(slew) * Math.min(Math.abs(slew), elapsed * SLEW);
  }

  /** A reply begins soon whose first frame has this number: the loop moves there, a little faster or slower than time. */
  #join(first: number): void {
    if (this.speaking) return;
    const apart = first - this.#clock(LEAD_MS);
    const isFar = Math.abs(apart) > this.#rate;
    this.#anchor = { frame: this.#clock() + (isFar ? apart : 0), at: this.#now(), slew: isFar ? 0 : apart };
  }

  #dueLoop(): DueFrame[] {
    const length = this.#loop.length;
    if (length === 0) return [];
    const target = Math.max(0, Math.floor(this.#clock()));
    const round = target - (target % length);
    const behind = target - (this.#cursor ?? -Infinity);
    if (behind > target - round || -behind > LOOP_WAITS_S * this.#rate) this.#restartLoop(round);
    const due: DueFrame[] = [];
    let free = DEPTH - this.#held((of) => of === null);
    while (free-- > 0 && this.#cursor! <= target + LOOP_AHEAD) {
      const clock = this.#cursor!++;
      due.push(this.#order("idle", null, this.#loop[clock % length]!, clock));
    }
    return due;
  }

  /** The loop goes on from this number; only the newest picture of it is kept. */
  #restartLoop(at: number | null): void {
    this.#cursor = at;
    const kept = this.#newest((frame) => frame.reply === null);
    this.#forget((of, frame) => of === null && frame !== kept && frame !== this.#shown);
  }

  // ---- pictures

  #order(track: Track, reply: number | null, frame: EncodedFrame, clock: number): DueFrame {
    const ticket = ++this.#tickets;
    this.#pending.set(ticket, { reply, sample: frame.sample, clock });
    return { ticket, track, frame };
  }

  /** Pictures that are waiting or being made. */
  #held(isOf: (reply: number | null) => boolean): number {
    let count = 0;
    for (const { reply } of this.#pending.values()) if (isOf(reply)) count++;
    for (const { reply } of this.#decoded) if (isOf(reply)) count++;
    return count;
  }

  #newest(fits: (frame: Decoded<P>) => boolean): Decoded<P> | null {
    return this.#decoded.filter(fits).reduce<Decoded<P> | null>((best, frame) => (best === null || frame.clock >= best.clock ? frame : best), null);
  }

  /** Closes what is older than the newest frame whose time has come. */
  #prune(): void {
    const report = this.#report;
    const [position, target] = [report ? this.#position(report) : -1, this.#clock()];
    const lips = this.#newest((frame) => frame.reply !== null && frame.reply === report?.reply && frame.sample <= position);
    const resting = this.#newest((frame) => frame.reply === null && frame.clock <= target);
    this.#decoded = this.#decoded.filter((frame) => {
      const newer = frame.reply === null ? resting : frame.reply === lips?.reply ? lips : null;
      const isPast = newer !== null && frame !== newer && frame.clock <= newer.clock;
      if (isPast) frame.picture.close();
      return !isPast;
    });
  }

  #take(frame: Decoded<P>): void {
    this.#decoded = this.#decoded.filter((other) => other !== frame);
    this.#show(frame);
  }

  #show(frame: Decoded<P> | null): void {
    if (this.#shown !== frame) this.#shown?.picture.close();
    this.#shown = frame;
  }

  /** Closes the pictures of these, and those that are still being made as they come. The one on the screen stays until the next. */
  #forget(isOf: (reply: number | null, frame?: Decoded<P>) => boolean): void {
    for (const [ticket, { reply }] of [...this.#pending]) if (isOf(reply)) this.#pending.delete(ticket);
    this.#decoded = this.#decoded.filter((frame) => {
      const gone = isOf(frame.reply, frame);
      if (gone) frame.picture.close();
      return !gone;
    });
  }
}
