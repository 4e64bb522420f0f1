// Which microphone this device uses, and whether its audio is processed. Stored in this browser, since other devices
// have other microphones.
import type { TextStorage } from "../../settings/storage";
import type { MicrophoneChoice } from "./microphone";

const KEY = "duologue.microphone";

export const DEFAULT_CHOICE: MicrophoneChoice = { device: "", cleaned: true };

export function readChoice(storage: TextStorage): MicrophoneChoice {
  try {
    const { device, cleaned } = JSON.parse(storage.get(KEY) ?? "{}") as Partial<MicrophoneChoice>;
    return { device: typeof device === "string" ? device : "", cleaned: cleaned !== false };
  } catch {
    return DEFAULT_CHOICE;
  }
}

export function writeChoice(storage: TextStorage, choice: MicrophoneChoice): void {
  storage.put(KEY, JSON.stringify(choice));
}
