// A pose of a face: weights by name, the same for every kind of face, and the part of it that a mouth decides. The server has the
// same in `faces/pose.py`. Pure.
import type { Shape } from "./look";
import type { Mouth } from "./mouth";

/** Of the mouth: 0 to 1. `smile`, `blink`, `breath`: 0 to 1. The others: -1 to 1, as seen in the
 * picture: `look_x` and `turn` to the right, `look_y` and `nod` down, `tilt` clockwise, `brow` up. */
export const PARTS = ["open", "wide", "round", "press", "tuck", "tongue", "smile", "blink", "brow", "look_x", "look_y", "turn", "nod", "tilt", "breath"] as const;

export type Part = (typeof PARTS)[number];
export type Pose = { readonly [part in Part]?: number };

export function mouthPose({ open, wide, press, tuck, tongue }: Mouth): Pose {
  return { open, wide: Math.max(0, wide), round: Math.max(0, -wide), press, tuck, tongue };
}

/** A shape's points in a pose: x, y, x, y ... */
export function posed({ points, moves = {} }: Pick<Shape, "points" | "moves">, pose: Pose): number[] {
  const moved = [...points];
  for (const [part, deltas] of Object.entries(moves)) {
    const weight = pose[part as Part] ?? 0;
    if (weight !== 0) for (let at = 0; at < deltas.length; at++) moved[at]! += weight * deltas[at]!;
  }
  return moved;
}
