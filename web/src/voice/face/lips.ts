// The mouth of the reply that is audible: its keys as they arrive, and how far it was played. Between two reports of the player the
// position goes on by the clock, for a moment; when the sound stops, the mouth closes. Pure.
import { type Mouth, mouthAt, type MouthKey, REST } from "./mouth";
import type { PlayoutReport } from "../audio/playout";
import { OUTPUT_RATE } from "../audio/samples";

/** Most replies remembered. */
const MAX_REPLIES = 16;
/** The position goes on this long without a report (they come every 20 ms): no farther than what is surely audible. */
const MAX_AHEAD_MS = 40;
/** A mouth whose sound has stopped is closed after this time: two frames. */
const CLOSING_MS = 33;
/** Keys this far behind what was played are forgotten. */
const KEPT_SAMPLES = OUTPUT_RATE;

export class Lips {
  readonly #now: () => number;
  /** By reply, oldest first. */
  readonly #keys = new Map<number, MouthKey[]>();
  #last: PlayoutReport | null = null;
  /** When the last report came, milliseconds. */
  #at = 0;
  /** The mouth when the sound stopped. */
  #left: Mouth = REST;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Keys of a reply, in order; those that are already there are ignored. */
  add(reply: number, keys: readonly MouthKey[]): void {
    const known = this.#keys.get(reply) ?? [];
    const end = known.at(-1)?.[0] ?? -1;
    this.#keys.set(reply, [...known, ...keys.filter(([at]) => at > end)]);
    const oldest = this.#keys.keys().next();
    if (this.#keys.size > MAX_REPLIES && !oldest.done) this.#keys.delete(oldest.value);
  }

  /** What the player reports; `samples` are audible by now. */
  onReport(report: PlayoutReport): void {
    this.#left = this.mouth();
    this.#last = report;
    this.#at = this.#now();
    if (report.state === "ended" || report.state === "dropped") this.#keys.delete(report.reply);
    else this.#forget(report);
  }

  /** The sound was stopped here, before the player reports it. */
  stop(): void {
    if (this.#last?.state === "playing") this.onReport({ ...this.#last, state: "dropped", level: 0 });
  }

  /** A new connection: replies are numbered anew. */
  reset(): void {
    this.stop();
    this.#keys.clear();
  }

  /** The mouth at this moment. */
  mouth(): Mouth {
    if (this.#last === null) return REST;
    const elapsed = this.#now() - this.#at;
    if (this.#last.state !== "playing") return closing(this.#left, elapsed / CLOSING_MS);
    const keys = this.#keys.get(this.#last.reply);
    return keys ? mouthAt(keys, this.#last.samples + (Math.min(elapsed, MAX_AHEAD_MS) * OUTPUT_RATE) / 1000) : REST;
  }

  #forget({ reply, samples }: PlayoutReport): void {
    const keys = this.#keys.get(reply);
    const first = keys?.findIndex(([at]) => at > samples - KEPT_SAMPLES) ?? 0;
    // Not one by one: that would copy the list with every report.
    if (keys && first > 100) this.#keys.set(reply, keys.slice(first - 1));
  }
}

/** `share`: how far it has closed. */
function closing(mouth: Mouth, share: number): Mouth {
  if (mouth === REST || share >= 1) return REST;
  const rest = 1 - Math.max(0, share);
  return { open: mouth.open * rest, wide: mouth.wide * rest, press: mouth.press * rest, tuck: mouth.tuck * rest, tongue: mouth.tongue * rest };
}
