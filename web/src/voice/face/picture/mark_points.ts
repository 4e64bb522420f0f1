// The points that a person places on a picture's face: their names, where they start, and how they move. Pure.
import type { EyeMarks, Landmarks, MarkPoint } from "../../../wire/voice/avatars";

const EYE_PARTS = ["outer", "inner", "upper", "lower"] as const;

/** In the order in which they are reached by keyboard. */
export const MARK_NAMES = [
  ...(["left_eye_outer", "left_eye_inner", "left_eye_upper", "left_eye_lower"] as const),
  ...(["right_eye_inner", "right_eye_outer", "right_eye_upper", "right_eye_lower"] as const),
  ...(["mouth_left", "mouth_right", "mouth_top", "lips", "mouth_bottom", "chin"] as const),
] as const;

export type MarkName = (typeof MARK_NAMES)[number];
export type Marks = Readonly<Record<MarkName, MarkPoint>>;

/** Fractions of a picture that an arrow key moves a point, and with Shift. */
const STEP = 0.002;
const LARGE_STEP = 0.02;

const STEPS: Readonly<Record<string, MarkPoint>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** A face in the middle of a square. */
const START: Marks = {
  left_eye_outer: [0.34, 0.43],
  left_eye_inner: [0.45, 0.43],
  left_eye_upper: [0.395, 0.405],
  left_eye_lower: [0.395, 0.45],
  right_eye_outer: [0.66, 0.43],
  right_eye_inner: [0.55, 0.43],
  right_eye_upper: [0.605, 0.405],
  right_eye_lower: [0.605, 0.45],
  mouth_left: [0.42, 0.65],
  mouth_right: [0.58, 0.65],
  mouth_top: [0.5, 0.62],
  mouth_bottom: [0.5, 0.69],
  lips: [0.5, 0.653],
  chin: [0.5, 0.8],
};

/** Where the points start in a picture of these pixels: a face in its middle, a bit up, as portraits have it. */
export function startMarks(width: number, height: number): Marks {
  const [across, down] = width > height ? [height / width, 1] : [1, width / height];
  return mapped(START, ([x, y]) => [0.5 + (x - 0.5) * across, 0.45 + (y - 0.5) * down + (0.05 * down)]);
}

export function marksOf(landmarks: Landmarks): Marks {
  const { left_eye, right_eye, ...others } = landmarks;
  const eye = (name: "left_eye" | "right_eye", eye: EyeMarks) => EYE_PARTS.map((part) => [`${name}_${part}`, eye[part]]);
  return { ...others, ...Object.fromEntries([...eye("left_eye", left_eye), ...eye("right_eye", right_eye)]) } as Marks;
}

export function landmarksOf(marks: Marks): Landmarks {
  const eye = (name: "left_eye" | "right_eye") => ({ outer: marks[`${name}_outer`], inner: marks[`${name}_inner`], upper: marks[`${name}_upper`], lower: marks[`${name}_lower`] });
  const { mouth_left, mouth_right, mouth_top, mouth_bottom, lips, chin } = marks;
  return { left_eye: eye("left_eye"), right_eye: eye("right_eye"), mouth_left, mouth_right, mouth_top, mouth_bottom, lips, chin };
}

/** The marks with one of them elsewhere, inside the picture. */
export function moved(marks: Marks, name: MarkName, [x, y]: MarkPoint): Marks {
  const inside = (value: number) => Math.round(Math.max(0, Math.min(1, value)) * 10_000) / 10_000;
  return { ...marks, [name]: [inside(x), inside(y)] };
}

/** Where a key takes a point; null for a key that takes it nowhere. */
export function movedByKey(marks: Marks, name: MarkName, key: string, isLarge: boolean): Marks | null {
  const step = STEPS[key];
  if (!step) return null;
  const size = isLarge ? LARGE_STEP : STEP;
  const [x, y] = marks[name];
  return moved(marks, name, [x + step[0] * size, y + step[1] * size]);
}

/** The part of the picture around the marks, as large a share of its width as of its height: for a face that is small in it. */
export function closeUp(marks: Marks): { left: number; top: number; share: number } {
  const [xs, ys] = [0, 1].map((axis) => MARK_NAMES.map((name) => marks[name][axis]!)) as [number[], number[]];
  const middle = (values: number[]) => (Math.min(...values) + Math.max(...values)) / 2;
  const extent = (values: number[]) => Math.max(...values) - Math.min(...values);
  const share = Math.max(0.1, Math.min(1, 1.5 * Math.max(extent(xs), extent(ys))));
  const from = (values: number[]) => Math.max(0, Math.min(1 - share, middle(values) - share / 2));
  return { left: from(xs), top: from(ys), share };
}

function mapped(marks: Marks, map: (point: MarkPoint) => MarkPoint): Marks {
  return Object.fromEntries(Object.entries(marks).map(([name, point]) => [name, map(point)])) as Marks;
}
