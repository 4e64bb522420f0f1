// What shows between the parted lips of a picture: a strip from the upper to the lower lip, with the places that the shader needs to draw teeth,
// tongue and darkness. Pure.
import type { Warp } from "./warp";

/** Numbers of a point: x, y in the picture; how far across the mouth (-1 to 1); below the upper and above the lower lip in mouth widths. */
export const POINT = 5;

/** Points of a strip of triangles over the columns of the mouth. */
export function insideSize(warp: Warp): number {
  return (warp.lips.last - warp.lips.first + 1) * 2 * POINT;
}

/** The strip between the lips of `points`, into `strip`. Returns how far the lips are apart at most, in mouth widths. */
export function mouthInside(warp: Warp, points: Float32Array, strip: Float32Array): number {
  const { frame, lips } = warp;
  const columns = lips.last - lips.first;
  let widest = 0;
  for (let step = 0; step <= columns; step++) {
    const upper = (lips.upper + lips.first + step) * 2;
    const lower = (lips.lower + lips.first + step) * 2;
    const across = columns > 0 ? (2 * step) / columns - 1 : 0;
    const gap = Math.hypot((points[lower]! - points[upper]!) * frame.aspect, points[lower + 1]! - points[upper + 1]!) / frame.mouthWidth;
    widest = Math.max(widest, gap);
    const at = step * 2 * POINT;
    strip[at] = points[upper]!;
    strip[at + 1] = points[upper + 1]!;
    strip[at + 2] = strip[at + 7] = across;
    strip[at + 3] = strip[at + 9] = 0;
    strip[at + 4] = strip[at + 8] = gap;
    strip[at + 5] = points[lower]!;
    strip[at + 6] = points[lower + 1]!;
  }
  return widest;
}
