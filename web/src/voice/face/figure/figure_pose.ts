// What a pose means for a VRM figure: weights of its expressions, and angles of its bones and eyes. Pure.
import type { Pose } from "../pose";

/** Weights of expressions that VRM defines, 0 to 1. */
export type Expression = "aa" | "ih" | "ou" | "ee" | "oh" | "blink" | "happy" | "surprised";

export interface FigurePose {
  readonly expressions: Readonly<Record<Expression, number>>;
  /** Of the head, in radians: up and down, to the sides, to a shoulder. Half of each is the neck's. */
  readonly head: { readonly nod: number; readonly turn: number; readonly tilt: number };
  /** Of the chest, in radians. */
  readonly breath: number;
  /** Of the eyes, in degrees: to the side of the figure's left, and down. */
  readonly gaze: { readonly yaw: number; readonly pitch: number };
}

/** Radians of a full turn, nod and tilt. */
const TURN = 0.5;
const NOD = 0.35;
const TILT = 0.3;
const BREATH = 0.025;
/** Degrees of a full look. */
const LOOK = 25;
/** A figure's joy closes its eyes and opens its mouth: this much of it is a smile that can speak. */
const SMILE = 0.45;

export function figurePose(pose: Pose): FigurePose {
  const { open = 0, wide = 0, round = 0, press = 0, tuck = 0, tongue = 0 } = pose;
  const { smile = 0, blink = 0, brow = 0, look_x = 0, look_y = 0, turn = 0, nod = 0, tilt = 0, breath = 0 } = pose;
  // Pressed lips are closed whatever the jaw does; with the lower lip under the teeth the mouth is nearly closed.
  const free = (1 - unit(press)) * (1 - 0.75 * unit(tuck));
  const jaw = unit(open) * free;
  const spread = unit(wide) * free;
  const rounded = unit(round) * free;
  const weights = {
    aa: jaw * (1 - 0.6 * spread) * (1 - 0.9 * rounded),
    // A spread mouth that is nearly closed is s and ee, an open one e.
    ee: spread * (1 - 0.7 * jaw),
    ih: 0.6 * spread * jaw + 0.25 * unit(tongue) * free * (1 - jaw) + 0.15 * unit(tuck) * (1 - unit(press)),
    oh: rounded * jaw,
    ou: rounded * (1 - jaw),
  };
  // Morphs add up: together they are at most one mouth.
  const sum = weights.aa + weights.ee + weights.ih + weights.oh + weights.ou;
  const share = sum > 1 ? 1 / sum : 1;
  return {
    expressions: {
      aa: weights.aa * share,
      ih: weights.ih * share,
      ou: weights.ou * share,
      ee: weights.ee * share,
      oh: weights.oh * share,
      blink: unit(blink),
      happy: unit(smile) * SMILE * (1 - 0.5 * jaw),
      surprised: Math.max(0, Math.min(1, brow)) * 0.25,
    },
    head: { nod: side(nod) * NOD, turn: side(turn) * TURN, tilt: side(tilt) * TILT },
    breath: unit(breath) * BREATH,
    gaze: { yaw: side(look_x) * LOOK, pitch: side(look_y) * LOOK },
  };
}

const unit = (weight: number) => Math.max(0, Math.min(1, weight));
const side = (weight: number) => Math.max(-1, Math.min(1, weight));
