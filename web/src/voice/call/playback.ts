// Tracks the audio of a call's replies: which reply the next frame belongs to, which are stale, how much of each was
// played, and when to report that to the server. Pure: it is told what arrives and how far playback is, and calls both
// sides.
import type { PlayoutOrder, PlayoutReport } from "../audio/playout";
import type { ClientMessage, ServerMessage } from "./protocol";

/** Interval of `played` reports, in samples: 200 ms. */
const REPORT_SAMPLES = 4800;
/** Most replies remembered. */
const MAX_REPLIES = 16;

export interface PlaybackOutputs {
  /** Orders to the player. */
  readonly play: (order: PlayoutOrder) => void;
  /** Messages to the server. */
  readonly send: (message: ClientMessage) => void;
}

interface AudioChunk {
  readonly chunk: number;
  /** Samples of the reply before this chunk. */
  readonly from: number;
}

/** A reply whose audio has started to arrive. */
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
  /** The reply that arriving frames belong to, and the number of the next frame. */
  #receiving: ReplyAudio | null = null;
  #chunk = 0;
  #replies: ReplyAudio[] = [];
  /** The newest dropped reply: it and older ones are not played any more. */
  #dropped = -1;

  constructor(outputs: PlaybackOutputs) {
    this.#outputs = outputs;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The reply being played, or about to be. */
  get current(): number | null {
    return this.#replies.find(({ finished }) => !finished)?.reply ?? null;
  }

  /** Samples of a reply that were played. */
  heard(reply: number): number {
    return this.#reply(reply)?.heard ?? 0;
  }

  /** Whether a message is not stale. A message of a newer epoch raises the epoch. */
  isCurrent(message: ServerMessage): boolean {
    if (message.epoch > this.#epoch) this.#epoch = message.epoch;
    // These describe the past and stay true.
    if (["transcript", "reply_done", "error", "interrupt", "queued", "queue_done", "tool", "answered", "history", "video_mode", "video_idle"].includes(message.type)) return true;
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
        // A reply that was given up without an explicit interrupt must not play on.
        if (message.ending !== "spoken") this.#drop(message.reply);
        break;
    }
  }

  /** An audio frame, which belongs to the reply started last. */
  sound(pcm: Int16Array): void {
    const chunk = this.#chunk++;
    const reply = this.#receiving;
    if (reply === null || reply.reply <= this.#dropped) return;
    reply.chunks.push({ chunk, from: reply.received });
    reply.received += pcm.length;
    this.#outputs.play({ kind: "push", reply: reply.reply, pcm });
  }

  /** The player reports its position. */
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

  /** Drops the current reply and tells the server how far it was played. Returns false if none was playing. */
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

  /** A new connection: the old one's replies are over and numbering restarts. */
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
