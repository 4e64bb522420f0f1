// What a model will get of an attached file, as the server would fit it: `GET /api/blobs/{hash}/fit`.
import { type Answer, type Fetch, request } from "../transport/http";

export interface MediaFit {
  readonly kind: "image" | "audio" | "video" | "document" | "other";
  readonly became: "kept" | "resized" | "text" | "frames" | "frames_and_sound" | "refused";
  /** Of the file. */
  readonly seconds?: number;
  readonly width?: number;
  readonly height?: number;
  /** Pictures that reach the model. */
  readonly frames?: number;
  /** An estimate. */
  readonly tokens?: number;
  /** Of sound that the model hears: what all sounds of one message may have together. */
  readonly most_seconds?: number;
  /** Why it is refused. */
  readonly code?: string;
  readonly message?: string;
}

/** Measuring a long sound takes the server a while. */
const TIMEOUT_MS = 60_000;

export function fetchFit(fetch: Fetch, blob: string, model: string): Promise<Answer<MediaFit>> {
  return request(fetch, `api/blobs/${blob}/fit?model=${encodeURIComponent(model)}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
}
