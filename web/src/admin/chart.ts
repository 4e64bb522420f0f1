// Geometry of a line chart: SVG paths and round scale ends. Pure.

export interface Point {
  /** Unix seconds. */
  readonly at: number;
  /** Null if nothing was measured: a gap in the line. */
  readonly value: number | null;
}

export interface ChartArea {
  readonly width: number;
  readonly height: number;
  /** Unix seconds at the left and right edge. */
  readonly from: number;
  readonly to: number;
  /** Value at the top edge. */
  readonly top: number;
}

const STEPS = [1, 2, 2.5, 5, 10];

/** The next round number above the largest value. */
export function roundTop(largest: number): number {
  if (!(largest > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return power * STEPS.find((step) => step * power >= largest)!;
}

export function scaleTop(lines: readonly (readonly Point[])[]): number {
  return roundTop(lines.flat().reduce((largest, { value }) => Math.max(largest, value ?? 0), 0));
}

/** SVG paths of the lines, interrupted where points are more than `gap` seconds apart, and of isolated points. */
export function linePaths(points: readonly Point[], { width, height, from, to, top }: ChartArea, gap: number): { lines: string; dots: string } {
  const lines: string[] = [];
  const dots: string[] = [];
  const measured = points.filter(({ at, value }) => value !== null && at >= from && at <= to);
  measured.forEach(({ at, value }, index) => {
    const x = ((at - from) / (to - from)) * width;
    const y = height - (Math.min(value ?? 0, top) / top) * height;
    const isNear = (other: Point | undefined) => other !== undefined && Math.abs(other.at - at) <= gap;
    const joins = isNear(measured[index - 1]);
    // A zero-length line, which round caps draw as a dot.
    if (!joins && !isNear(measured[index + 1])) dots.push(`M${x.toFixed(1)} ${y.toFixed(1)}h0`);
    else lines.push(`${joins ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`);
  });
  return { lines: lines.join(""), dots: dots.join("") };
}
