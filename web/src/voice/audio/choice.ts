// Which microphone this device uses, and whether its sound is cleaned: kept in this browser, for another device has others.
import type { Shelf } from "../../settings/shelf";
import type { MicrophoneChoice } from "./microphone";

const KEY = "duologue.microphone";

export const FIRST_CHOICE: MicrophoneChoice = { device: "", cleaned: true };

export function readChoice(shelf: Shelf): MicrophoneChoice {
  try {
    const { device, cleaned } = JSON.parse(shelf.get(KEY) ?? "{}") as Partial<MicrophoneChoice>;
    return { device: typeof device === "string" ? device : "", cleaned: cleaned !== false };
  } catch {
    return FIRST_CHOICE;
  }
}

export function writeChoice(shelf: Shelf, choice: MicrophoneChoice): void {
  shelf.put(KEY, JSON.stringify(choice));
}
