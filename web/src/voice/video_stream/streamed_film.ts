// The video of a call's face: decoded by the browser (WebCodecs) and drawn on a canvas, as `FilmSchedule` decides.
import type { PlayoutReport } from "../audio/playout";
import type { Avatar } from "../../wire/voice/avatars";
import type { CallFilm } from "./call_film";
import { type DueFrame, FilmSchedule, type Track } from "./film_schedule";
import { framesOf, type VideoSegment } from "./segment";

interface OpenDecoder {
  readonly decoder: VideoDecoder;
  readonly codec: string;
}

export class StreamedFilm implements CallFilm {
  readonly avatar: string;
  readonly drawn: boolean;
  readonly #schedule: FilmSchedule<VideoFrame>;
  readonly #decoders: { [track in Track]?: OpenDecoder } = {};
  #closed = false;

  constructor({ id, kind }: Pick<Avatar, "id" | "kind">, now: () => number) {
    this.avatar = id;
    this.drawn = kind === "drawn";
    this.#schedule = new FilmSchedule(now);
  }

  begin(): void {
    this.#schedule.begin();
  }

  add(reply: number | null, segment: VideoSegment): void {
    if (this.#closed) return;
    const frames = framesOf(segment);
    if (reply === null) this.#schedule.setLoop(frames, segment.rate);
    else this.#schedule.add(reply, frames, segment.rate);
  }

  onReport(report: PlayoutReport): void {
    this.#schedule.onReport(report);
  }

  drop(reply: number): void {
    this.#schedule.drop(reply);
  }

  clear(): void {
    this.#schedule.clear();
  }

  close(): void {
    this.#closed = true;
    this.#schedule.clear();
    for (const { decoder } of Object.values(this.#decoders)) if (decoder.state !== "closed") decoder.close();
  }

  attach(canvas: HTMLCanvasElement, onLive: (live: boolean) => void): () => void {
    const pen = canvas.getContext("2d", { alpha: false });
    let drawn: VideoFrame | null = null;
    let request = 0;
    const step = () => {
      this.#feed();
      const picture = this.#schedule.shown();
      const side = Math.round(canvas.clientWidth * devicePixelRatio);
      const resized = side > 0 && canvas.width !== side;
      if (resized) canvas.width = canvas.height = side;
      if (picture && pen && (picture !== drawn || resized)) pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
      // Tests of the page read this.
      canvas.dataset["shows"] = picture === null ? "nothing" : this.#schedule.speaking ? "reply" : "rest";
      if ((picture === null) !== (drawn === null)) onLive(picture !== null);
      drawn = picture;
      if (picture || !this.#closed) request = requestAnimationFrame(step);
    };
    request = requestAnimationFrame(step);
    return () => cancelAnimationFrame(request);
  }

  #feed(): void {
    if (this.#closed) return;
    try {
      for (const due of this.#schedule.due()) this.#decode(due);
    } catch {
      this.#fail();
    }
  }

  #decode({ ticket, track, frame }: DueFrame): void {
    const { decoder } = this.#decoder(track, frame.codec);
    decoder.decode(new EncodedVideoChunk({ type: frame.key ? "key" : "delta", timestamp: ticket, data: frame.data }));
  }

  #decoder(track: Track, codec: string): OpenDecoder {
    const open = this.#decoders[track];
    if (open?.codec === codec) return open;
    const decoder = open?.decoder ?? new VideoDecoder({ output: (picture) => this.#onPicture(picture), error: () => this.#fail() });
    decoder.configure({ codec, optimizeForLatency: true });
    return (this.#decoders[track] = { decoder, codec });
  }

  #onPicture(picture: VideoFrame): void {
    this.#schedule.decoded(picture.timestamp, picture);
    // More than one frame of the screen's rate, where it has to catch up.
    this.#feed();
  }

  /** The browser cannot decode this: with nothing to see, the page draws the face. */
  #fail(): void {
    if (!this.#closed) this.close();
  }
}
