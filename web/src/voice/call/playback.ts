// The books of what a call's replies sound like: which reply the next frame belongs to, what is stale, how far each was
// heard and when the server is told so. Pure: it is told what comes and how far the loudspeaker is, and calls both.
import type { PlayoutOrder, PlayoutReport } from "../audio/playout";
import type { ClientMessage, ServerMessage } from "./protocol";

/** A mark is sent so often, in samples of what is heard: 200 ms. */
const REPORT_SAMPLES = 4800;
/** Replies whose beginnings are remembered. */
const MAX_REPLIES = 16;

export interface PlaybackOutputs {
  /** To the loudspeaker. */
  readonly play: (order: PlayoutOrder) => void;
  /** To the server. */
  readonly send: (message: ClientMessage) => void;
}

interface AudioChunk {
  readonly chunk: number;
  /** The reply's samples before it. */
  readonly from: number;
}

/** A reply whose sound has begun to come. */
class ReplyAudio {
  readonly reply: number;
  readonly chunks: AudioChunk[] = [];
  received = 0;
  heard = 0;
  reportedSamples = 0;
  finished = false;

  constructor(reply: number) {
    this.reply = reply;
  }
}

export class Playback {
  readonly #outputs: PlaybackOutputs;
  #epoch = 0;
  /** The reply the next frame belongs to, and the number of that frame. */
  #receiving: ReplyAudio | null = null;
  #chunk = 0;
  #replies: ReplyAudio[] = [];
  /** The newest reply that was dropped: nothing older is played any more. */
  #dropped = -1;

  constructor(outputs: PlaybackOutputs) {
    this.#outputs = outputs;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The reply that is, or is about to be, heard. */
  get current(): number | null {
    return this.#replies.find(({ finished }) => !finished)?.reply ?? null;
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

  handle(message: ServerMessage): void {
    if (!this.isCurrent(message)) return;
    switch (message.type) {
      case "audio_start":
        this.#begin(message.reply, message.chunk);
        break;
      case "audio_end":
        if (this.#receiving?.reply === message.reply) this.#receiving = null;
        this.#outputs.play({ kind: "end", reply: message.reply });
        break;
      case "pause":
        this.#outputs.play({ kind: "hold", reply: message.reply });
        break;
      case "resume":
        this.#outputs.play({ kind: "resume", reply: message.reply });
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
    const reply = this.#receiving;
    if (reply === null || reply.reply <= this.#dropped) return;
    reply.chunks.push({ chunk, from: reply.received });
    reply.received += pcm.length;
    this.#outputs.play({ kind: "push", reply: reply.reply, pcm });
  }

  /** The loudspeaker tells how far it is. */
  onReport({ reply, samples, state }: PlayoutReport): void {
    const audio = this.#reply(reply);
    if (!audio || audio.finished) return;
    audio.heard = Math.max(audio.heard, samples);
    audio.finished = state === "ended" || state === "dropped";
    const isDue = state === "playing" ? audio.heard - audio.reportedSamples >= REPORT_SAMPLES : audio.finished || audio.heard > audio.reportedSamples;
    if (!isDue) return;
    audio.reportedSamples = audio.heard;
    this.#outputs.send({ type: "played", reply_id: reply, samples: audio.heard });
  }

  /** Silence, now: whatever speaks is dropped, and the server told how far it came. False: nothing was to be heard. */
  interrupt(): boolean {
    const reply = this.current;
    if (reply === null) {
      this.#outputs.send({ type: "interrupt" });
      return false;
    }
    const audio = this.#reply(reply)!;
    const started = audio.chunks.findLast(({ from }) => from < audio.heard);
    this.#outputs.send({ type: "interrupt", reply_id: reply, samples: audio.heard, last_chunk_id: started?.chunk ?? -1 });
    this.#drop(reply);
    return true;
  }

  /** Another line: what was on the old one is over, and it counts anew. */
  reset(): void {
    for (const { reply, finished } of this.#replies) if (!finished) this.#outputs.play({ kind: "drop", reply });
    this.#replies = [];
    this.#receiving = null;
    this.#epoch = this.#chunk = 0;
    this.#dropped = -1;
  }

  #reply(reply: number): ReplyAudio | undefined {
    return this.#replies.find((audio) => audio.reply === reply);
  }

  #begin(reply: number, chunk: number): void {
    this.#chunk = chunk;
    this.#receiving = this.#reply(reply) ?? null;
    if (this.#receiving) return;
    this.#receiving = new ReplyAudio(reply);
    this.#replies = [...this.#replies.slice(1 - MAX_REPLIES), this.#receiving];
    this.#outputs.play({ kind: "begin", reply });
  }

  #drop(reply: number): void {
    this.#dropped = Math.max(this.#dropped, reply);
    if (this.#receiving && this.#receiving.reply <= this.#dropped) this.#receiving = null;
    for (const audio of this.#replies) if (!audio.finished && audio.reply <= reply) this.#outputs.play({ kind: "drop", reply: audio.reply });
  }
}
