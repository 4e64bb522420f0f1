// How large a frame is sent. Pure.

/** Pixels of a frame's longer side. */
export const LONGEST_SIDE = 1024;
export const FRAME_QUALITY = 0.7;
/** Bytes of one frame. Only a picture of noise comes near it. */
export const MOST_BYTES = 400_000;
/** Pixels below which a frame is not made smaller. */
const SHORTEST_LONGEST = 256;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The same shape with no side longer than `longest`; never larger than it was. */
export function fitted({ width, height }: Size, longest: number): Size {
  const scale = Math.min(1, longest / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** The longer side to try after a frame of `bytes` was too many; null where it was not, or cannot be made smaller. */
export function smallerSide({ width, height }: Size, bytes: number): number | null {
  const longest = Math.max(width, height);
  if (bytes <= MOST_BYTES || longest <= SHORTEST_LONGEST) return null;
  // Bytes grow about as the area does.
  return Math.max(SHORTEST_LONGEST, Math.floor(longest * 0.9 * Math.sqrt(MOST_BYTES / bytes)));
}
