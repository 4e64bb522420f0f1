import { beforeEach, expect, test, vi } from "vitest";

import { CanvasFace, openCanvasFace } from "../../../src/voice/face/canvas_face";
import type { Look } from "../../../src/voice/face/look";

let paths: number;
let calls: string[];

class RecordedPath {
  moves: number[] = [];
  constructor() {
    paths++;
  }
  moveTo(...numbers: number[]) {
    this.moves.push(...numbers);
  }
  lineTo(...numbers: number[]) {
    this.moves.push(...numbers);
  }
  bezierCurveTo(...numbers: number[]) {
    this.moves.push(...numbers);
  }
  closePath() {}
}

const LOOK: Look = {
  name: "a",
  title: "A",
  colours: { light: { skin: "#ffeecc", dark: "#000000" }, dark: { skin: "#886644", dark: "#111111" } },
  shapes: [
    { id: "mouth", steps: ["M", "L", "L", "L", "Z"], points: [0, 0, 9, 0, 9, 9, 0, 9], fill: "skin", moves: { open: [0, 0, 0, 0, 0, 5, 0, 0], turn: [3, 0, 3, 0, 3, 0, 3, 0] } },
    { id: "tongue", steps: ["M", "C"], points: [0, 0, 1, 1, 2, 2, 3, 3], stroke: "dark", width: 4, inside: "mouth" },
    { id: "dimple", steps: ["M", "L"], points: [1, 1, 2, 2], stroke: "dark", shade: "press", opacity: 0.5 },
  ],
  head: ["mouth"],
};

let canvas: HTMLCanvasElement;
let face: CanvasFace;

beforeEach(() => {
  paths = 0;
  calls = [];
  vi.stubGlobal("Path2D", RecordedPath);
  const record =
    (name: string) =>
    (...args: unknown[]) =>
      void calls.push([name, ...args.filter((arg) => typeof arg === "number")].join(" "));
  const pen: Record<string, unknown> = { globalAlpha: 1 };
  for (const name of ["setTransform", "clearRect", "save", "restore", "clip"]) pen[name] = record(name);
  pen["fill"] = () => calls.push(`fill ${String(pen["fillStyle"])}`);
  pen["stroke"] = () => calls.push(`stroke ${String(pen["strokeStyle"])} ${String(pen["globalAlpha"])}`);
  canvas = { width: 0, height: 0, getContext: () => pen } as unknown as HTMLCanvasElement;
  face = openCanvasFace(canvas, LOOK);
});

test("shapes are painted in order, clipped where they are inside of another, in the colours of the theme", () => {
  face.draw({}, "dark", 512, 512);
  expect(calls.filter((call) => !call.startsWith("setTransform"))).toEqual(["clearRect 0 0 512 512", "fill #886644", "save", "clip", "stroke #111111 1", "restore"]);
  expect([canvas.width, canvas.height]).toEqual([512, 512]);
});

test("a shape that is only there with a part of the pose is painted with it", () => {
  face.draw({ press: 0.5 }, "light", 512, 512);
  expect(calls.at(-1)).toBe("stroke #000000 0.25");
});

test("what turns as a whole keeps its path, what bends gets a new one", () => {
  face.draw({}, "light", 256, 256);
  expect(paths).toBe(3);
  face.draw({ turn: 1 }, "light", 256, 256);
  expect(paths).toBe(3);
  expect(calls).toContain("setTransform 0.5 0 0 0.5 1.5 0");
  face.draw({ turn: 1, open: 0.5 }, "light", 256, 256);
  expect(paths).toBe(4);
});

test("it stands in the middle of a canvas that is not square", () => {
  face.draw({}, "light", 1024, 512);
  expect(calls).toContain("setTransform 1 0 0 1 256 0");
});

test("closed it holds no picture, and a browser without a canvas says so", () => {
  face.draw({}, "light", 512, 512);
  face.close();
  expect(canvas.width).toBe(0);
  expect(() => openCanvasFace({ getContext: () => null } as unknown as HTMLCanvasElement, LOOK)).toThrow();
});
