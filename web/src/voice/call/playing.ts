// The books of what a call's replies sound like: which reply the next frame belongs to, what is stale, how far each was
// heard and when the server is told so. Pure: it is told what comes and how far the loudspeaker is, and calls both.
import type { PlayoutOrder, PlayoutReport } from "../audio/playout";
import type { ClientMessage, ServerMessage } from "./protocol";

/** A mark is sent so often, in samples of what is heard: 200 ms. */
const MARK = 4800;
/** Replies whose beginnings are remembered. */
const KEPT = 16;

export interface Ends {
  /** To the loudspeaker. */
  readonly play: (order: PlayoutOrder) => void;
  /** To the server. */
  readonly tell: (message: ClientMessage) => void;
}

interface Piece {
  readonly chunk: number;
  /** The reply's samples before it. */
  readonly from: number;
}

/** A reply whose sound has begun to come. */
class Spoken {
  readonly reply: number;
  readonly pieces: Piece[] = [];
  came = 0;
  heard = 0;
  marked = 0;
  over = false;

  constructor(reply: number) {
    this.reply = reply;
  }
}

export class Playing {
  readonly #ends: Ends;
  #epoch = 0;
  /** The reply the next frame belongs to, and the number of that frame. */
  #coming: Spoken | null = null;
  #chunk = 0;
  #replies: Spoken[] = [];
  /** The newest reply that was dropped: nothing older is played any more. */
  #dropped = -1;

  constructor(ends: Ends) {
    this.#ends = ends;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The reply that is, or is about to be, heard. */
  get current(): number | null {
    return this.#replies.find(({ over }) => !over)?.reply ?? null;
  }

  /** Samples of a reply that were heard. */
  heard(reply: number): number {
    return this.#reply(reply)?.heard ?? 0;
  }

  /** Whether a message says something of the present. Raises the epoch where it is of a newer one. */
  isCurrent(message: ServerMessage): boolean {
    if (message.epoch > this.#epoch) this.#epoch = message.epoch;
    // What was said and heard stays true.
    if (["transcript", "reply_done", "error", "interrupt", "queued", "queue_done", "tool", "answered", "history"].includes(message.type)) return true;
    return message.epoch >= this.#epoch && !("reply" in message && message.reply <= this.#dropped);
  }

  take(message: ServerMessage): void {
    if (!this.isCurrent(message)) return;
    switch (message.type) {
      case "audio_start":
        this.#begin(message.reply, message.chunk);
        break;
      case "audio_end":
        if (this.#coming?.reply === message.reply) this.#coming = null;
        this.#ends.play({ kind: "end", reply: message.reply });
        break;
      case "pause":
        this.#ends.play({ kind: "hold", reply: message.reply });
        break;
      case "resume":
        this.#ends.play({ kind: "resume", reply: message.reply });
        break;
      case "interrupt":
        this.#drop(message.reply);
        break;
      case "reply_done":
        // One that was given up and never said to be interrupted is not played on.
        if (message.ending !== "spoken") this.#drop(message.reply);
        break;
    }
  }

  /** A frame of sound: of the reply that was begun last. */
  sound(pcm: Int16Array): void {
    const chunk = this.#chunk++;
    const reply = this.#coming;
    if (reply === null || reply.reply <= this.#dropped) return;
    reply.pieces.push({ chunk, from: reply.came });
    reply.came += pcm.length;
    this.#ends.play({ kind: "push", reply: reply.reply, pcm });
  }

  /** The loudspeaker tells how far it is. */
  reported({ reply, samples, state }: PlayoutReport): void {
    const spoken = this.#reply(reply);
    if (!spoken || spoken.over) return;
    spoken.heard = Math.max(spoken.heard, samples);
    spoken.over = state === "ended" || state === "dropped";
    const due = state === "playing" ? spoken.heard - spoken.marked >= MARK : spoken.over || spoken.heard > spoken.marked;
    if (!due) return;
    spoken.marked = spoken.heard;
    this.#ends.tell({ type: "played", reply_id: reply, samples: spoken.heard });
  }

  /** Silence, now: whatever speaks is dropped, and the server told how far it came. False: nothing was to be heard. */
  interrupt(): boolean {
    const reply = this.current;
    if (reply === null) {
      this.#ends.tell({ type: "interrupt" });
      return false;
    }
    const spoken = this.#reply(reply)!;
    const begun = spoken.pieces.findLast(({ from }) => from < spoken.heard);
    this.#ends.tell({ type: "interrupt", reply_id: reply, samples: spoken.heard, last_chunk_id: begun?.chunk ?? -1 });
    this.#drop(reply);
    return true;
  }

  /** Another line: what was on the old one is over, and it counts anew. */
  reset(): void {
    for (const { reply, over } of this.#replies) if (!over) this.#ends.play({ kind: "drop", reply });
    this.#replies = [];
    this.#coming = null;
    this.#epoch = this.#chunk = 0;
    this.#dropped = -1;
  }

  #reply(reply: number): Spoken | undefined {
    return this.#replies.find((spoken) => spoken.reply === reply);
  }

  #begin(reply: number, chunk: number): void {
    this.#chunk = chunk;
    this.#coming = this.#reply(reply) ?? null;
    if (this.#coming) return;
    this.#coming = new Spoken(reply);
    this.#replies = [...this.#replies.slice(1 - KEPT), this.#coming];
    this.#ends.play({ kind: "begin", reply });
  }

  #drop(reply: number): void {
    this.#dropped = Math.max(this.#dropped, reply);
    if (this.#coming && this.#coming.reply <= this.#dropped) this.#coming = null;
    for (const spoken of this.#replies) if (!spoken.over && spoken.reply <= reply) this.#ends.play({ kind: "drop", reply: spoken.reply });
  }
}
