// What a call passes on to the video of its face.
import type { PlayoutReport } from "../audio/playout";
import type { VideoSegment } from "./segment";

export interface CallFilm {
  /** The face that the server is asked for. */
  readonly avatar: string;
  /** It is a drawn one, which has a disc behind it. */
  readonly drawn: boolean;
  /** The call is live: the server's clock of the face runs, too. */
  begin(): void;
  /** `reply` null: the face at rest. */
  add(reply: number | null, segment: VideoSegment): void;
  onReport(report: PlayoutReport): void;
  /** This reply and those before it are not shown any more. */
  drop(reply: number): void;
  /** The server sends no video: nothing of it is shown. */
  clear(): void;
  close(): void;
  /** Draws on this canvas until the returned function is called. `onLive`: whether there is something to see. */
  attach(canvas: HTMLCanvasElement, onLive: (live: boolean) => void): () => void;
}
