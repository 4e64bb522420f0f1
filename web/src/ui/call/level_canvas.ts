// Draws the loudness of the last seconds on a canvas, newest at the right, in the canvas's colour.
import { LevelHistory } from "./level_history";

/** For `{@attach}` on a canvas. `volume`: 0 to 1, or null while nothing is recorded. */
export function levelCanvas(volume: () => number | null): (canvas: HTMLCanvasElement) => () => void {
  return (canvas) => {
    const pen = canvas.getContext("2d");
    const levels = new LevelHistory();
    let frame = 0;
    function step(now: number): void {
      const level = volume();
      if (level !== null) levels.add(level, now);
      const [width, height] = [canvas.clientWidth * devicePixelRatio, canvas.clientHeight * devicePixelRatio];
      if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
      if (pen) {
        pen.clearRect(0, 0, width, height);
        // Read each time, since the theme may have changed.
        pen.fillStyle = getComputedStyle(canvas).color;
        for (const { x, size } of levels.bars(canvas.clientWidth, now)) {
          const barHeight = Math.max(2 * devicePixelRatio, size * height);
          pen.fillRect(x * devicePixelRatio, (height - barHeight) / 2, 2 * devicePixelRatio, barHeight);
        }
      }
      frame = requestAnimationFrame(step);
    }
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  };
}
