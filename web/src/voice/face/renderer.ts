// What draws a face: a drawn look, a VRM figure or a picture. The call's view gives it a pose in each frame.
import type { Pose } from "./pose";

export interface FaceRenderer {
  /** Draws the face into its element, in `width` by `height` pixels of the screen. */
  draw(pose: Pose, theme: "light" | "dark", width: number, height: number): void;
  /** Frees what the graphics system holds. */
  close(): void;
}

/** Opens a renderer into a canvas. Throws an Error with a sentence for the person whose face cannot be drawn. */
export type OpenFace = (canvas: HTMLCanvasElement, signal: AbortSignal) => Promise<FaceRenderer>;
