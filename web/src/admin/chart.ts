// A figure over time as lines in a box: where its points lie, and which numbers stand at its edge. Pure.

export interface Point {
  /** Unix seconds. */
  readonly at: number;
  /** Null where there was nothing to measure: the line has a gap there. */
  readonly value: number | null;
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  /** Unix seconds of the left and the right edge. */
  readonly from: number;
  readonly to: number;
  /** The value at the upper edge. */
  readonly top: number;
}

const STEPS = [1, 2, 2.5, 5, 10];

/** The next round number a scale may end at. */
export function roundTop(largest: number): number {
  if (!(largest > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return power * STEPS.find((step) => step * power >= largest)!;
}

export function topOf(lines: readonly (readonly Point[])[]): number {
  return roundTop(lines.flat().reduce((largest, { value }) => Math.max(largest, value ?? 0), 0));
}

/** SVG paths: of the lines, where points farther apart than `gap` seconds are not joined, and of points that are alone. */
export function pathsOf(points: readonly Point[], { width, height, from, to, top }: Frame, gap: number): { lines: string; dots: string } {
  const lines: string[] = [];
  const dots: string[] = [];
  const measured = points.filter(({ at, value }) => value !== null && at >= from && at <= to);
  measured.forEach(({ at, value }, index) => {
    const x = ((at - from) / (to - from)) * width;
    const y = height - (Math.min(value ?? 0, top) / top) * height;
    const isNear = (other: Point | undefined) => other !== undefined && Math.abs(other.at - at) <= gap;
    const joins = isNear(measured[index - 1]);
    // A line of no length, which round ends make a dot.
    if (!joins && !isNear(measured[index + 1])) dots.push(`M${x.toFixed(1)} ${y.toFixed(1)}h0`);
    else lines.push(`${joins ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`);
  });
  return { lines: lines.join(""), dots: dots.join("") };
}
