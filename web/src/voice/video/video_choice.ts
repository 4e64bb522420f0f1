// How often this browser sends frames in calls, and whether it mirrors its own picture. Stored here: a phone on the road has
// another line than a desk.
import type { TextStorage } from "../../settings/storage";
import { type FrameRate, RATES } from "./frame_pacer";

const KEY = "duologue.call_video";

export interface VideoChoice {
  readonly rate: FrameRate;
  /** Null: mirrored if the camera looks at the user. Only the user's own view is mirrored, never what is sent. */
  readonly mirrored: boolean | null;
}

export function readVideoChoice(storage: TextStorage): VideoChoice {
  try {
    const { rate, mirrored } = JSON.parse(storage.get(KEY) ?? "{}") as Partial<Record<keyof VideoChoice, unknown>>;
    return { rate: RATES.find((known) => known === rate) ?? 1, mirrored: typeof mirrored === "boolean" ? mirrored : null };
  } catch {
    return { rate: 1, mirrored: null };
  }
}

export function writeVideoChoice(storage: TextStorage, choice: VideoChoice): void {
  storage.put(KEY, JSON.stringify(choice));
}
