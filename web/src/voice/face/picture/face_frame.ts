// Where the parts of a face are in a picture, in a measure that does not depend on the picture's shape: x is multiplied by width / height,
// so that a step is as long in every direction. Pure.
import type { EyeMarks, Landmarks, MarkPoint } from "../../../wire/voice/avatars";

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** An eye: `along` from its outer to its inner corner or back, always to the right; lids as heights over the line of the corners. */
export interface EyeFrame {
  readonly middle: Spot;
  readonly width: number;
  /** How far the middle of each lid is below the line of the corners; negative is above. */
  readonly upper: number;
  readonly lower: number;
}

export interface FaceFrame {
  readonly aspect: number;
  /** Unit vectors along the line of the eyes, and down the face. */
  readonly right: Spot;
  readonly down: Spot;
  readonly eyes: readonly [EyeFrame, EyeFrame];
  /** Between the eyes' middles. */
  readonly eyeDistance: number;
  readonly mouthLeft: Spot;
  readonly mouthRight: Spot;
  readonly mouthWidth: number;
  readonly lips: Spot;
  /** How high the upper and the lower lip are. */
  readonly upperLip: number;
  readonly lowerLip: number;
  /** From the lips to the chin. */
  readonly chin: number;
  /** The middle of the face, between eyes and lips. */
  readonly middle: Spot;
}

export function faceFrame(marks: Landmarks, aspect: number): FaceFrame {
  const at = ([x, y]: MarkPoint): Spot => ({ x: x * aspect, y });
  const eyeMiddle = (eye: EyeMarks) => between(at(eye.outer), at(eye.inner));
  const [leftEye, rightEye] = [eyeMiddle(marks.left_eye), eyeMiddle(marks.right_eye)];
  const eyeDistance = Math.max(0.01, distance(leftEye, rightEye));
  const right = { x: (rightEye.x - leftEye.x) / eyeDistance, y: (rightEye.y - leftEye.y) / eyeDistance };
  const down = { x: -right.y, y: right.x };
  const below = (point: Spot, origin: Spot) => dot(minus(point, origin), down);
  const eyeFrame = (eye: EyeMarks, middle: Spot): EyeFrame => {
    const upper = below(at(eye.upper), middle);
    return { middle, width: Math.max(0.005, distance(at(eye.outer), at(eye.inner))), upper, lower: Math.max(upper + 0.002, below(at(eye.lower), middle)) };
  };
  const lips = at(marks.lips);
  const [mouthLeft, mouthRight] = [at(marks.mouth_left), at(marks.mouth_right)];
  const mouthWidth = Math.max(0.01, distance(mouthLeft, mouthRight));
  return {
    aspect,
    right,
    down,
    eyes: [eyeFrame(marks.left_eye, leftEye), eyeFrame(marks.right_eye, rightEye)],
    eyeDistance,
    mouthLeft,
    mouthRight,
    mouthWidth,
    lips,
    upperLip: Math.max(0.03 * mouthWidth, -below(at(marks.mouth_top), lips)),
    lowerLip: Math.max(0.03 * mouthWidth, below(at(marks.mouth_bottom), lips)),
    chin: Math.max(0.3 * mouthWidth, below(at(marks.chin), lips)),
    middle: between(between(leftEye, rightEye), lips),
  };
}

/** How far below the line of the corners an upper or lower lid is at `along`, -1 to 1 from corner to corner. */
export function lidAt(height: number, along: number): number {
  // Between the arch of a parabola and that of an ellipse, as lids are.
  return Math.abs(along) >= 1 ? 0 : height * (1 - along * along) ** 0.6;
}

/** The height of the line where the lips meet, at this x; beyond the corners it goes on level with them. */
export function lipLine(frame: FaceFrame, x: number): number {
  const { mouthLeft, mouthRight, lips } = frame;
  const span = Math.max(0.001, mouthRight.x - mouthLeft.x);
  const along = Math.max(0, Math.min(1, (x - mouthLeft.x) / span));
  const straight = mouthLeft.y + (mouthRight.y - mouthLeft.y) * along;
  const share = Math.max(0.1, Math.min(0.9, (lips.x - mouthLeft.x) / span));
  const bend = lips.y - (mouthLeft.y + (mouthRight.y - mouthLeft.y) * share);
  // A parabola through both corners that has its height at the lips.
  return straight + (bend * along * (1 - along)) / (share * (1 - share));
}

/** The part of the picture that is shown in a canvas of width / height `shape`: head and shoulders. Fractions of the picture; wider than it where
 * the canvas is so wide that the face would be cut off. */
export function visiblePart(frame: FaceFrame, shape: number): { left: number; top: number; width: number; height: number } {
  const eyes = between(frame.eyes[0].middle, frame.eyes[1].middle);
  const face = Math.max(0.02, dot(minus(frame.lips, eyes), frame.down) + frame.chin);
  const wanted = face * 3.1;
  const height = Math.min(1, shape > 1 ? wanted : wanted / Math.max(0.5, shape), Math.max(frame.aspect / shape, face * 1.6));
  const width = (height * shape) / frame.aspect;
  const clamp = (value: number, size: number) => (size > 1 ? (1 - size) / 2 : Math.max(0, Math.min(1 - size, value)));
  return { left: clamp(frame.middle.x / frame.aspect - width / 2, width), top: clamp(frame.middle.y + face * 0.1 - height / 2, height), width, height };
}

export const minus = (one: Spot, other: Spot): Spot => ({ x: one.x - other.x, y: one.y - other.y });
export const dot = (one: Spot, other: Spot): number => one.x * other.x + one.y * other.y;
export const between = (one: Spot, other: Spot): Spot => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
export const distance = (one: Spot, other: Spot): number => Math.hypot(one.x - other.x, one.y - other.y);
