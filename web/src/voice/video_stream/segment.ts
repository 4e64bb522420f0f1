// A stretch of a face's video as it arrives: H.264 with start codes, from a key frame on. Pure.
import { OUTPUT_RATE } from "../audio/samples";

export interface VideoSegment {
  /** The sample of its reply that the first frame belongs to. */
  readonly at: number;
  /** The number of the first frame on the face's own clock; within the loop at rest, its moment. */
  readonly first: number;
  /** Frames a second. */
  readonly rate: number;
  /** As WebCodecs names it; null: there are no frames. */
  readonly codec: string | null;
  /** Bytes of each frame. */
  readonly sizes: readonly number[];
  /** Base64. */
  readonly data: string;
}

/** One frame, encoded. */
export interface EncodedFrame {
  readonly data: Uint8Array;
  readonly key: boolean;
  readonly codec: string;
  /** The sample from which it is shown. */
  readonly sample: number;
  readonly clock: number;
}

/** The frames of a segment; none if it is empty or its sizes contradict its data. */
export function framesOf({ at, first, rate, codec, sizes, data }: VideoSegment): EncodedFrame[] {
  if (codec === null) return [];
  const bytes = decoded(data);
  if (sizes.reduce((sum, size) => sum + size, 0) !== bytes.length) return [];
  let from = 0;
  return sizes.map((size, number) => ({
    data: bytes.subarray(from, (from += size)),
    key: number === 0,
    codec,
    sample: at + (number * OUTPUT_RATE) / rate,
    clock: first + number,
  }));
}

/** Empty if it is no base64. */
function decoded(data: string): Uint8Array {
  try {
    return Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}
