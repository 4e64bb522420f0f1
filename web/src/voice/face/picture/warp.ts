// A picture's face as a grid that a pose moves. One row of the grid lies where the lips meet and is there twice, so that the mouth can open.
// What a full weight of each part of a pose adds to the points is worked out once; a frame only adds them up. Pure.
import type { Landmarks } from "../../../wire/voice/avatars";
import type { Part, Pose } from "../pose";
import { dot, type FaceFrame, faceFrame, lidAt, lipLine, minus, type Spot } from "./face_frame";

export interface Warp {
  readonly frame: FaceFrame;
  readonly columns: number;
  /** x, y of each point at rest in fractions of the picture: where in the picture it takes its colour from, too. */
  readonly rest: Float32Array;
  /** Three points of each triangle. */
  readonly triangles: Uint16Array;
  /** What a full weight of a part adds to `rest`. */
  readonly moves: ReadonlyMap<Part, PartMove>;
  /** The first points of the two rows where the lips meet, the upper one and the lower one; and the columns of the mouth's corners. */
  readonly lips: { readonly upper: number; readonly lower: number; readonly first: number; readonly last: number };
}

export interface PartMove {
  readonly deltas: Float32Array;
  /** Only the deltas from here on, and before there, are not zero. */
  readonly from: number;
  readonly to: number;
}

/** Rows and columns of the grid: few beside the face, many in it. */
const ROWS = { above: 5, brows: 8, eyes: 18, nose: 8, lips: 12, chin: 10, below: 5 } as const;
const COLUMNS = { beside: 6, face: 44 } as const;
/** A strip at the edges of the picture, as a fraction of it, in which nothing moves: no gap may show there. */
const EDGE = 0.05;
/** In mouth widths: how far the jaw drops, and at the mouth's corners what spreading and rounding add. */
const JAW = 0.38;
const SPREAD = 0.1;
const ROUND = 0.2;
/** In eye distances: how far the head turns and nods; in radians how far it tilts. */
const TURN = 0.13;
const NOD = 0.1;
const TILT = 0.1;

/** Everything about a point that the moves depend on. Lengths in mouth widths or eye widths. */
interface Place {
  readonly spot: Spot;
  readonly isLower: boolean;
  /** From the lips: to the right in half mouth widths, and below the line of the lips in mouth widths. */
  readonly across: number;
  readonly under: number;
  /** 0 at the picture's edges, 1 in it. */
  readonly free: number;
  /** From the middle of the face, to the right and down in eye distances. */
  readonly faceX: number;
  readonly faceY: number;
}

type Move = (place: Place, frame: FaceFrame) => Spot;

/** `aspect`: width / height of the picture. */
export function buildWarp(marks: Landmarks, aspect: number): Warp {
  const frame = faceFrame(marks, aspect);
  const xs = columnsOf(frame);
  const { above, below } = rowsOf(frame);
  const columns = xs.length;
  const rows = above.length + below.length;
  const rest = new Float32Array(rows * columns * 2);
  const places: Place[] = [];
  for (let row = 0; row < rows; row++) {
    const isLower = row >= above.length;
    const share = isLower ? below[row - above.length]! : above[row]!;
    for (const x of xs) {
      const line = lipLine(frame, x);
      const spot = { x, y: isLower ? line + (1 - line) * share : line * share };
      rest.set([spot.x / aspect, spot.y], places.length * 2);
      places.push(placeOf(spot, isLower, frame));
    }
  }
  const moves = new Map<Part, PartMove>();
  for (const [part, move] of Object.entries(MOVES) as [Part, Move][]) moves.set(part, partMove(deltas(places, frame, move)));
  const upper = (above.length - 1) * columns;
  const [first, last] = [xs.findIndex((x) => x >= frame.mouthLeft.x), xs.findLastIndex((x) => x <= frame.mouthRight.x)];
  return { frame, columns, rest, triangles: trianglesOf(above.length, below.length, columns), moves, lips: { upper, lower: upper + columns, first, last } };
}

/** The points in this pose, into `points`. */
export function warped(warp: Warp, pose: Pose, points: Float32Array): void {
  points.set(warp.rest);
  for (const [part, { deltas, from, to }] of warp.moves) {
    const weight = pose[part];
    if (!weight) continue;
    for (let at = from; at < to; at++) points[at]! += weight * deltas[at]!;
  }
}

function partMove(deltas: Float32Array): PartMove {
  const from = deltas.findIndex((delta) => delta !== 0);
  return { deltas, from: Math.max(0, from), to: deltas.findLastIndex((delta) => delta !== 0) + 1 };
}

function deltas(places: readonly Place[], frame: FaceFrame, move: Move): Float32Array {
  const result = new Float32Array(places.length * 2);
  places.forEach((place, index) => {
    const { x, y } = move(place, frame);
    // Along the face, then in the picture's own measure.
    const across = x * frame.right.x + y * frame.down.x;
    const down = x * frame.right.y + y * frame.down.y;
    result[index * 2] = (across * place.free) / frame.aspect;
    result[index * 2 + 1] = down * place.free;
  });
  return result;
}

function placeOf(spot: Spot, isLower: boolean, frame: FaceFrame): Place {
  const { aspect, lips, mouthLeft, mouthRight, mouthWidth, middle, eyeDistance, right, down } = frame;
  const centre = { x: (mouthLeft.x + mouthRight.x) / 2, y: lips.y };
  const edge = Math.min(spot.x / aspect, 1 - spot.x / aspect, spot.y, 1 - spot.y) / EDGE;
  const fromMiddle = minus(spot, middle);
  return {
    spot,
    isLower,
    across: dot(minus(spot, centre), right) / (mouthWidth / 2),
    under: (spot.y - lipLine(frame, spot.x)) / mouthWidth,
    free: smooth(edge),
    faceX: dot(fromMiddle, right) / eyeDistance,
    faceY: dot(fromMiddle, down) / eyeDistance,
  };
}

const NOTHING: Spot = { x: 0, y: 0 };

/** What a full weight does, along the face: x to its right, y down. */
const MOVES: { readonly [part in Part]?: Move } = {
  open: ({ isLower, across, under }, { mouthWidth: width, chin }) => {
    const profile = lipProfile(across);
    if (!isLower) return { x: 0, y: -0.05 * width * profile * fade(-under, 0.05, 0.35) };
    // At the lips only what is between the corners moves, further down the whole jaw.
    const jaw = Math.exp(-((across / 1.5) ** 2));
    const share = smooth(under / 0.45);
    const end = chin / width;
    return { x: 0, y: JAW * width * (profile * (1 - share) + 0.62 * jaw * share) * fade(under, end, end + 0.42) };
  },
  wide: (place, { mouthWidth: width }) => {
    const corner = cornerShare(place);
    return { x: SPREAD * width * corner, y: -0.03 * width * corner ** 2 };
  },
  round: (place, frame) => {
    const { across, under, isLower } = place;
    const { mouthWidth: width } = frame;
    const near = Math.exp(-((under / 0.35) ** 2));
    // The opening is small and round: lips come forward, which shows as thicker.
    const lips = lipProfile(across * 1.4) * near;
    return { x: -ROUND * width * cornerShare(place), y: (isLower ? 0.1 : -0.05) * width * lips };
  },
  press: ({ across, under, isLower }, { mouthWidth: width, upperLip, lowerLip }) => {
    const lip = (isLower ? lowerLip : upperLip) / width;
    const near = lipProfile(across) * bump(Math.abs(under) / lip, 1, 1.3);
    return { x: 0, y: (isLower ? -0.55 * lowerLip : 0.4 * upperLip) * near };
  },
  tuck: ({ across, under, isLower }, { mouthWidth: width, lowerLip }) => {
    const profile = lipProfile(across);
    if (!isLower) return { x: 0, y: -0.09 * width * profile * fade(-under, 0.05, 0.4) };
    return { x: 0, y: -0.5 * lowerLip * profile * bump((under * width) / lowerLip, 0.9, 1.4) };
  },
  smile: (place, { mouthWidth: width }) => {
    const corner = cornerShare(place);
    return { x: 0.07 * width * corner, y: -0.13 * width * corner ** 2 };
  },
  blink: (place, frame) => sum(frame.eyes.map((eye) => ({ x: 0, y: lidMove(place, eye, frame) }))),
  look_x: (place, frame) => sum(frame.eyes.map((eye) => ({ x: 0.13 * eye.width * eyeballShare(place, eye, frame), y: 0 }))),
  look_y: (place, frame) => sum(frame.eyes.map((eye) => ({ x: 0, y: 0.35 * (eye.lower - eye.upper) * eyeballShare(place, eye, frame) }))),
  brow: (place, frame) =>
    sum(
      frame.eyes.map((eye) => {
        const { along, down } = atEye(place, eye, frame);
        const over = (eye.upper - down) / eye.width;
        return { x: 0, y: -0.16 * eye.width * Math.exp(-((along / 1.7) ** 2)) * bump(over, 0.45, 0.45) };
      }),
    ),
  turn: (place, { eyeDistance }) => ({ x: TURN * eyeDistance * depth(place), y: 0 }),
  nod: (place, { eyeDistance }) => ({ x: 0, y: NOD * eyeDistance * depth(place) }),
  tilt: ({ faceX, faceY }, { eyeDistance }) => {
    // Around the neck, which is about two eye distances below the middle of the face.
    const head = Math.exp(-((faceX / 2.2) ** 4) - (Math.max(0, faceY) / 1.9) ** 4 - (Math.min(0, faceY) / 3) ** 4);
    return { x: TILT * (2 - faceY) * eyeDistance * head, y: TILT * faceX * eyeDistance * head };
  },
  breath: ({ faceX, faceY }, { eyeDistance }) => ({ x: 0, y: -0.05 * eyeDistance * smooth((faceY - 1.2) / 1.5) * Math.exp(-((faceX / 5) ** 2)) }),
};

/** The share of a lip's movement at a place across the mouth: all in the middle, nothing at the corners. */
function lipProfile(across: number): number {
  return Math.abs(across) >= 1 ? 0 : (1 - across * across) ** 0.75;
}

/** How much a place follows the nearer corner of the mouth: positive at the right one, negative at the left one. */
function cornerShare({ across, under }: Place): number {
  const near = Math.exp(-((under / 0.45) ** 2));
  const side = Math.abs(across) < 1 ? across : Math.sign(across) * Math.exp(-(((Math.abs(across) - 1) / 0.8) ** 2));
  return side * near;
}

/** How near a place of the head is to who looks at it: 1 in the middle of the face, more at the nose, nothing beside the head. */
function depth({ faceX, faceY }: Place): number {
  const head = Math.exp(-((faceX / 1.5) ** 2) - ((faceY + 0.1) / 2) ** 2);
  const nose = Math.exp(-((faceX / 0.35) ** 2) - ((faceY - 0.05) / 0.4) ** 2);
  return head + 0.35 * nose;
}

function atEye(place: Place, eye: FaceFrame["eyes"][0], { right, down }: FaceFrame): { along: number; down: number } {
  const offset = minus(place.spot, eye.middle);
  return { along: dot(offset, right) / (eye.width / 2), down: dot(offset, down) };
}

/** How far a closing lid takes a place down: the lid to the lower one, the skin above it less and less, what is in the eye below it. */
function lidMove(place: Place, eye: FaceFrame["eyes"][0], frame: FaceFrame): number {
  const { along, down } = atEye(place, eye, frame);
  // A bit more than was marked: white that stays beside a closed lid is seen at once.
  const [upper, lower] = [lidAt(eye.upper * 1.12, along / 1.06), lidAt(eye.lower * 1.12, along / 1.06)];
  const gap = Math.max(0, lower - upper);
  if (down >= lower || gap === 0) return 0;
  if (down >= upper) return (lower - down) * 0.99;
  return gap * 0.99 * fade(upper - down, 0, eye.width * 0.2);
}

/** How much a place belongs to the eyeball: all in the middle of the eye, nothing at the lids. */
function eyeballShare(place: Place, eye: FaceFrame["eyes"][0], frame: FaceFrame): number {
  const { along, down } = atEye(place, eye, frame);
  if (Math.abs(along) >= 1) return 0;
  const [upper, lower] = [lidAt(eye.upper, along), lidAt(eye.lower, along)];
  if (down <= upper || down >= lower) return 0;
  const share = (down - upper) / (lower - upper);
  return Math.min(1, 6 * share * (1 - share)) * (1 - along ** 4);
}

function sum(spots: readonly Spot[]): Spot {
  return spots.reduce((one, other) => ({ x: one.x + other.x, y: one.y + other.y }), NOTHING);
}

/** 0 up to 0, 1 from 1, without a corner in between. */
function smooth(value: number): number {
  const share = Math.max(0, Math.min(1, value));
  return share * share * (3 - 2 * share);
}

/** 1 up to `from`, 0 from `to`. */
const fade = (value: number, from: number, to: number) => 1 - smooth((value - from) / (to - from));

/** 1 at `middle`, 0 from `reach` away. */
const bump = (value: number, middle: number, reach: number) => 1 - smooth(Math.abs(value - middle) / reach);

/** The x of the columns: dense from a bit left of the face to a bit right of it, with one at each corner of the mouth. */
function columnsOf(frame: FaceFrame): number[] {
  const { aspect, middle, eyeDistance, mouthLeft, mouthRight } = frame;
  const left = Math.max(0.02 * aspect, Math.min(middle.x - 1.3 * eyeDistance, mouthLeft.x - 0.01));
  const right = Math.min(0.98 * aspect, Math.max(middle.x + 1.3 * eyeDistance, mouthRight.x + 0.01));
  const xs = [...steps(0, left, COLUMNS.beside), ...steps(left, right, COLUMNS.face), ...steps(right, aspect, COLUMNS.beside), aspect];
  for (const corner of [mouthLeft.x, mouthRight.x]) {
    const nearest = xs.reduce((best, x, index) => (Math.abs(x - corner) < Math.abs(xs[best]! - corner) ? index : best), 0);
    if (nearest > 0 && nearest < xs.length - 1) xs[nearest] = corner;
  }
  return xs;
}

/** Where the rows are: above the lips as shares of what is above them, below as shares of what is below. */
function rowsOf(frame: FaceFrame): { above: number[]; below: number[] } {
  const { lips, eyes, eyeDistance, chin, lowerLip, upperLip } = frame;
  const tops = eyes.map(({ middle, upper, width }) => middle.y + upper - 0.1 * width);
  const bottoms = eyes.map(({ middle, lower, width }) => middle.y + lower + 0.1 * width);
  const ordered = (values: number[]) => values.map((value, index) => Math.max(value, 0.01 * index)).sort((one, other) => one - other);
  const share = (y: number) => Math.max(0, Math.min(0.995, y / lips.y));
  const [brows, eyesTop, eyesBottom, nose] = ordered([Math.min(...tops) - 0.6 * eyeDistance, Math.min(...tops), Math.max(...bottoms), lips.y - 2 * upperLip]).map(share) as [number, number, number, number];
  const above = [...steps(0, brows, ROWS.above), ...steps(brows, eyesTop, ROWS.brows), ...steps(eyesTop, eyesBottom, ROWS.eyes), ...steps(eyesBottom, nose, ROWS.nose), ...steps(nose, 1, ROWS.lips), 1];
  const rest = Math.max(0.02, 1 - lips.y);
  const lip = Math.min(0.6, (2 * lowerLip) / rest);
  const jaw = Math.min(0.95, Math.max(lip + 0.05, (chin * 1.3) / rest));
  const below = [...steps(0, lip, ROWS.lips), ...steps(lip, jaw, ROWS.chin), ...steps(jaw, 1, ROWS.below), 1];
  return { above, below };
}

/** `count` values from `from` on, before `to`. */
function steps(from: number, to: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + ((to - from) * index) / count);
}

/** The row above the lips and the one below are not joined. */
function trianglesOf(above: number, below: number, columns: number): Uint16Array {
  const triangles: number[] = [];
  for (let row = 0; row < above + below - 1; row++) {
    if (row === above - 1) continue;
    for (let column = 0; column < columns - 1; column++) {
      const at = row * columns + column;
      triangles.push(at, at + 1, at + columns, at + columns, at + 1, at + columns + 1);
    }
  }
  return new Uint16Array(triangles);
}
