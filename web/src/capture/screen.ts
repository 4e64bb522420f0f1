// A picture of the screen, a window or a tab, which the browser asks the user to choose.
import { capture as words } from "../language/en/chat/capture";
import { faultOf } from "../voice/audio/microphone";
import { captureName } from "./clip";
import { pictureOf } from "./picture";

export type ScreenFault = "denied" | "failed";

/** What a refusal means. Browsers give the user's "Cancel" and a refusal by the operating system the same name; only the
 * message differs. */
export function screenFault(name: string, message: string): ScreenFault | null {
  if (faultOf(name) !== "denied") return name === "AbortError" ? null : "failed";
  return /system/i.test(message) ? "denied" : null;
}

/** A picture as a file with a name that is not taken; a sentence if there is none; null if the user did not want one. Call it during
 * a user gesture. */
export async function takeScreenshot(taken: readonly string[]): Promise<File | string | null> {
  let stream: MediaStream;
  try {
    stream = await navigator.mediaDevices.getDisplayMedia({ video: true });
  } catch (error) {
    const { name, message } = error as Error;
    const fault = screenFault(name, message);
    return fault === null ? null : words().screenFaults[fault];
  }
  try {
    // Text stays sharp only without loss.
    const picture = await pictureOf(stream, "image/png");
    return new File([picture], captureName(words().names.screen, picture.type, taken), { type: picture.type });
  } catch {
    return words().screenFaults.failed;
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}
