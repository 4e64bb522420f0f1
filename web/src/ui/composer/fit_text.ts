// Says on an attached file what it is and what the model will get of it. Pure.
import { clockTime } from "../../capture/clip";
import { composer as words } from "../../language/en/chat/composer";
import type { MediaFit } from "../../wire/chat/fits";
import { whole } from "../parts/number_format";

/** The file's own length and size in pixels: "1:04", "1280 × 720". */
export function measuresOf({ seconds = 0, width = 0, height = 0 }: MediaFit): string[] {
  const length = seconds > 0 ? [clockTime(Math.max(1, Math.round(seconds)))] : [];
  return width > 0 && height > 0 ? [...length, `${width}\u00a0×\u00a0${height}`] : length;
}

/** Tokens are an estimate, so they are rounded to two digits. */
function about(tokens: number): string {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, tokens))) - 1);
  return words().fit.tokens(whole(Math.ceil(tokens / step) * step));
}

/** What the model gets: "32 frames, about 2,100 tokens". Empty if it is refused, or nothing is to be said. */
export function fitText({ kind, became, frames = 0, tokens = 0 }: MediaFit): string {
  if (became === "refused") return "";
  const { fit } = words();
  const parts: string[] = [];
  if (kind === "audio" && became === "text") parts.push(fit.writtenDown);
  if (became === "resized") parts.push(fit.resized);
  if (kind === "video" && frames > 0) parts.push(fit.frames(frames, whole(frames)));
  if (became === "frames_and_sound") parts.push(fit.withSound);
  if (became === "frames" && kind === "video") parts.push(fit.withoutSound);
  if (tokens > 0) parts.push(about(tokens));
  return parts.join(", ");
}
