// A drawn face as data, as the server gives it: shapes that a pose moves (`faces/look.py`).
import type { Part } from "./pose";

/** Width and height of the square that the coordinates are in. */
export const SIDE = 512;

export type Theme = "light" | "dark";

/** One path, painted over those before it. `moves[part]` is what a full weight of this part of a pose adds to its points. */
export interface Shape {
  readonly id: string;
  readonly steps: readonly ("M" | "L" | "C" | "Z")[];
  /** x, y, x, y ... of the steps in order. */
  readonly points: readonly number[];
  /** A colour of the look; absent: not filled. */
  readonly fill?: string;
  readonly stroke?: string;
  readonly width?: number;
  readonly opacity?: number;
  /** Only the part within the shape of this id is painted. */
  readonly inside?: string;
  /** The opacity is multiplied by this part of the pose. */
  readonly shade?: Part;
  readonly moves?: { readonly [part in Part]?: readonly number[] };
}

export interface Look {
  readonly name: string;
  readonly title: string;
  readonly colours: Readonly<Record<Theme, Readonly<Record<string, string>>>>;
  readonly shapes: readonly Shape[];
  /** The shapes that turn and nod with the head. */
  readonly head: readonly string[];
}
