// What a recording shows at a moment: the line that is spoken, the last picture, clock times, and the waveform as a
// drawing. Pure.
import type { RecordedFrame, RecordedLine } from "../../wire/voice/recordings";

/** The line that is spoken at this moment, else the last one before it; -1 before the first. */
export function lineAt(lines: readonly RecordedLine[], moment: number): number {
  let last = -1;
  lines.forEach((line, index) => {
    if (line.start <= moment && (last < 0 || line.start >= lines[last]!.start)) last = index;
  });
  return last;
}

/** The picture that the assistant saw at this moment. */
export function frameAt(frames: readonly RecordedFrame[], moment: number): number | null {
  let last: number | null = null;
  for (const frame of frames) if (frame.at <= moment) last = frame.index;
  return last;
}

/** Milliseconds as a clock shows them: "0:05", "12:34", "1:02:03". */
export function clockTime(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** A side's peaks as the path of an SVG, bins wide and one high; quiet parts stay visible. `direction` -1 is upwards. */
export function waveformPath(peaks: readonly number[], direction: 1 | -1): string {
  return peaks.map((peak, index) => `M${index + 0.5} 0V${(direction * Math.max(0.02, Math.sqrt(peak / 255))).toFixed(3)}`).join("");
}
