// A shape's moves, divided for fast drawing: those that move it as a whole become a matrix, so that its path can be kept; those that
// bend it need a new path. Nothing is allocated for a frame: what is collected later stops a frame, too. Pure.
import type { Shape } from "./look";
import { type Part, PARTS, type Pose } from "./pose";

/** As for `setTransform`: a, b, c, d, e, f of x' = a x + c y + e, y' = b x + d y + f. */
export type Matrix = Float64Array;

/** The weights of a pose in the order of PARTS. */
export type Weights = Float64Array;

/** Units by which a move may differ from a motion of the whole. The points have two decimals. */
const TOLERANCE = 0.08;
/** Bends are compared in steps that move no point farther than this, in units: less is a twentieth of a pixel. */
const NUDGE = 0.1;
/** And in steps of a weight that are not finer than this. */
const FINEST = 1 / 256;

/** The weights of this pose, into `weights`. */
export function weigh(pose: Pose, weights: Weights): void {
  for (let at = 0; at < PARTS.length; at++) weights[at] = pose[PARTS[at]!] ?? 0;
}

interface Bend {
  /** Its place in PARTS. */
  readonly part: number;
  readonly deltas: readonly number[];
  /** The weight of a step. */
  readonly step: number;
}

export class ShapeMotion {
  readonly #points: readonly number[];
  readonly #whole: readonly (readonly [part: number, Matrix])[];
  readonly #bends: readonly Bend[];
  /** The steps of the outline's bends; none yet. */
  readonly #steps: Float64Array;
  readonly #outline: Float64Array;
  readonly #matrix: Matrix = new Float64Array(6);

  constructor({ points, moves = {} }: Shape) {
    this.#points = points;
    const fitted = (Object.entries(moves) as [Part, readonly number[]][]).map(([part, deltas]) => ({ part: PARTS.indexOf(part), deltas, matrix: wholeMove(points, deltas) }));
    this.#whole = fitted.flatMap(({ part, matrix }) => (matrix ? [[part, matrix] as const] : []));
    this.#bends = fitted.flatMap(({ part, deltas, matrix }) => (matrix ? [] : [{ part, deltas, step: Math.max(FINEST, NUDGE / reach(deltas)) }]));
    this.#steps = new Float64Array(this.#bends.length).fill(NaN);
    this.#outline = Float64Array.from(points);
  }

  /** What moves the shape as a whole in this pose; valid until the next call. */
  matrix(weights: Weights): Matrix {
    const matrix = this.#matrix;
    matrix[0] = matrix[3] = 1;
    matrix[1] = matrix[2] = matrix[4] = matrix[5] = 0;
    for (const [part, move] of this.#whole) {
      const weight = weights[part]!;
      if (weight !== 0) for (let at = 0; at < 6; at++) matrix[at]! += weight * move[at]!;
    }
    return matrix;
  }

  /** Bends the outline; whether it is another one than after the last call. */
  bend(weights: Weights): boolean {
    let changed = false;
    for (let at = 0; at < this.#bends.length; at++) {
      const { part, step } = this.#bends[at]!;
      const steps = Math.round(weights[part]! / step);
      if (steps === this.#steps[at]) continue;
      this.#steps[at] = steps;
      changed = true;
    }
    if (!changed) return false;
    const outline = this.#outline;
    for (let at = 0; at < outline.length; at++) outline[at] = this.#points[at]!;
    for (const { part, deltas } of this.#bends) {
      const weight = weights[part]!;
      if (weight !== 0) for (let at = 0; at < deltas.length; at++) outline[at]! += weight * deltas[at]!;
    }
    return true;
  }

  /** The outline's points, before the matrix; they change with the next bend. */
  get outline(): Readonly<Float64Array> {
    return this.#outline;
  }
}

/** How far a full weight moves a point at most. */
function reach(deltas: readonly number[]): number {
  return deltas.reduce((most, delta) => Math.max(most, Math.abs(delta)), 0);
}

/** The matrix that adds `deltas` to the points, or null if none does. Found by least squares around the middle of the points. */
function wholeMove(points: readonly number[], deltas: readonly number[]): Matrix | null {
  const count = points.length / 2;
  let [x, y, dx, dy] = [0, 0, 0, 0];
  for (let at = 0; at < points.length; at += 2) {
    x += points[at]! / count;
    y += points[at + 1]! / count;
    dx += deltas[at]! / count;
    dy += deltas[at + 1]! / count;
  }
  // A little more than zero, so that the points of a straight line have an answer, too.
  let [xx, xy, yy] = [1e-6, 0, 1e-6];
  let [xDx, yDx, xDy, yDy] = [0, 0, 0, 0];
  for (let at = 0; at < points.length; at += 2) {
    const [px, py, ddx, ddy] = [points[at]! - x, points[at + 1]! - y, deltas[at]! - dx, deltas[at + 1]! - dy];
    xx += px * px;
    xy += px * py;
    yy += py * py;
    xDx += px * ddx;
    yDx += py * ddx;
    xDy += px * ddy;
    yDy += py * ddy;
  }
  const size = xx * yy - xy * xy;
  const [a, c] = [(xDx * yy - yDx * xy) / size, (yDx * xx - xDx * xy) / size];
  const [b, d] = [(xDy * yy - yDy * xy) / size, (yDy * xx - xDy * xy) / size];
  const [e, f] = [dx - a * x - c * y, dy - b * x - d * y];
  for (let at = 0; at < points.length; at += 2) {
    const [px, py] = [points[at]!, points[at + 1]!];
    if (Math.abs(a * px + c * py + e - deltas[at]!) > TOLERANCE || Math.abs(b * px + d * py + f - deltas[at + 1]!) > TOLERANCE) return null;
  }
  return Float64Array.of(a, b, c, d, e, f);
}
