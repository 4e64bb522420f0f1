// Draws a look on a canvas. Paths are kept as long as their outlines stay the same; what moves a shape as a whole is a matrix.
import { type Look, type Shape, SIDE, type Theme } from "./look";
import { PARTS, type Pose } from "./pose";
import type { FaceRenderer } from "./renderer";
import { type Matrix, ShapeMotion, weigh, type Weights } from "./shape_motion";

/** A shape with its path as it was last drawn. */
class PaintedShape {
  readonly id: string;
  readonly inside: string;
  readonly opacity: number;
  /** The part of the pose by which its opacity is multiplied, or -1. */
  readonly shade: number;
  readonly width: number;
  readonly #shape: Shape;
  readonly #motion: ShapeMotion;
  #path: Path2D | null = null;
  /** Set before each drawing. */
  around: PaintedShape | null = null;
  matrix: Matrix;
  fill = "";
  stroke = "";

  constructor(shape: Shape) {
    this.#shape = shape;
    this.id = shape.id;
    this.inside = shape.inside ?? "";
    this.opacity = shape.opacity ?? 1;
    this.shade = shape.shade === undefined ? -1 : PARTS.indexOf(shape.shade);
    this.width = shape.width ?? 0;
    this.#motion = new ShapeMotion(shape);
    this.matrix = new Float64Array(6);
  }

  colour(colours: Readonly<Record<string, string>>): void {
    this.fill = colours[this.#shape.fill ?? ""] ?? "";
    this.stroke = colours[this.#shape.stroke ?? ""] ?? "";
  }

  pose(weights: Weights): void {
    this.matrix = this.#motion.matrix(weights);
    if (this.#motion.bend(weights) || this.#path === null) this.#path = pathOf(this.#shape, this.#motion.outline);
  }

  get path(): Path2D {
    return this.#path!;
  }
}

export class CanvasFace implements FaceRenderer {
  readonly #canvas: HTMLCanvasElement;
  readonly #pen: CanvasRenderingContext2D;
  readonly #look: Look;
  readonly #shapes: readonly PaintedShape[];
  readonly #weights: Weights = new Float64Array(PARTS.length);
  #theme: Theme | null = null;
  /** From the look's square to the canvas. */
  #scale = 1;
  #left = 0;
  #top = 0;

  constructor(canvas: HTMLCanvasElement, pen: CanvasRenderingContext2D, look: Look) {
    this.#canvas = canvas;
    this.#pen = pen;
    this.#look = look;
    this.#shapes = look.shapes.map((shape) => new PaintedShape(shape));
    const byName = new Map(this.#shapes.map((painted) => [painted.id, painted]));
    for (const painted of this.#shapes) painted.around = byName.get(painted.inside) ?? null;
  }

  draw(pose: Pose, theme: Theme, width: number, height: number): void {
    const pen = this.#pen;
    if (this.#canvas.width !== width || this.#canvas.height !== height) [this.#canvas.width, this.#canvas.height] = [width, height];
    this.#scale = Math.min(width, height) / SIDE;
    this.#left = (width - this.#scale * SIDE) / 2;
    this.#top = (height - this.#scale * SIDE) / 2;
    if (theme !== this.#theme) for (const painted of this.#shapes) painted.colour(this.#look.colours[theme]);
    this.#theme = theme;
    weigh(pose, this.#weights);
    for (const painted of this.#shapes) painted.pose(this.#weights);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.lineCap = pen.lineJoin = "round";
    this.#paint();
    pen.globalAlpha = 1;
  }

  close(): void {
    this.#canvas.width = this.#canvas.height = 0;
  }

  #paint(): void {
    const pen = this.#pen;
    /** The shape within which the last one was painted. */
    let within: PaintedShape | null = null;
    for (const painted of this.#shapes) {
      const { around, path, fill, stroke } = painted;
      const visible = painted.shade < 0 ? painted.opacity : painted.opacity * Math.min(1, Math.max(0, this.#weights[painted.shade]!));
      if (visible === 0) continue;
      if (around !== within) {
        if (within) pen.restore();
        within = around;
        if (around) {
          pen.save();
          this.#place(around.matrix);
          pen.clip(around.path);
        }
      }
      this.#place(painted.matrix);
      pen.globalAlpha = visible;
      if (fill !== "") {
        pen.fillStyle = fill;
        pen.fill(path);
      }
      if (stroke !== "") {
        pen.strokeStyle = stroke;
        pen.lineWidth = painted.width;
        pen.stroke(path);
      }
    }
    if (within) pen.restore();
  }

  #place(matrix: Matrix): void {
    const scale = this.#scale;
    this.#pen.setTransform(scale * matrix[0]!, scale * matrix[1]!, scale * matrix[2]!, scale * matrix[3]!, scale * matrix[4]! + this.#left, scale * matrix[5]! + this.#top);
  }
}

/** Draws a look on this canvas. Throws an Error if the browser has no canvas to draw on. */
export function openCanvasFace(canvas: HTMLCanvasElement, look: Look): CanvasFace {
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("no canvas");
  return new CanvasFace(canvas, pen, look);
}

function pathOf({ steps }: Shape, points: Readonly<Float64Array>): Path2D {
  const path = new Path2D();
  let at = 0;
  for (const step of steps) {
    if (step === "M") path.moveTo(points[at]!, points[at + 1]!);
    else if (step === "L") path.lineTo(points[at]!, points[at + 1]!);
    else if (step === "C") path.bezierCurveTo(points[at]!, points[at + 1]!, points[at + 2]!, points[at + 3]!, points[at + 4]!, points[at + 5]!);
    else path.closePath();
    at += step === "C" ? 6 : step === "Z" ? 0 : 2;
  }
  return path;
}
