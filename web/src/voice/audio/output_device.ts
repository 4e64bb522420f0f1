// The loudspeakers of this device: which there are, and through which one sound comes, where the browser lets a page choose.
// Owns the browser's side of it; knows nothing that sounds.
import type { TextStorage } from "../../settings/storage";
import type { Device } from "./microphone";

const KEY = "duologue.loudspeaker";

type Routed = AudioContext & { setSinkId(id: string): Promise<void> };

/** Whether the browser lets a page choose. */
export function canChooseOutput(): boolean {
  return typeof AudioContext !== "undefined" && "setSinkId" in AudioContext.prototype;
}

/** Empty: the browser's own choice. Kept in this browser: another device has others. */
export function readOutput(storage: TextStorage): string {
  return storage.get(KEY) ?? "";
}

export function writeOutput(storage: TextStorage, id: string): void {
  storage.put(KEY, id === "" ? null : id);
}

/** None where there is no choice. */
export async function listOutputs(): Promise<Device[]> {
  if (!canChooseOutput()) return [];
  const devices = (await (navigator.mediaDevices as MediaDevices | undefined)?.enumerateDevices().catch(() => [])) ?? [];
  return devices.filter(({ kind, deviceId }) => kind === "audiooutput" && deviceId !== "" && deviceId !== "default").map(({ deviceId, label }) => ({ id: deviceId, label }));
}

/** Let the sound come out there. False: it is gone, or not allowed, and the browser's own choice is used. */
export async function routeTo(context: AudioContext, id: string): Promise<boolean> {
  if (!canChooseOutput()) return id === "";
  const routed = context as Routed;
  try {
    await routed.setSinkId(id);
    return true;
  } catch {
    await routed.setSinkId("").catch(() => {});
    return false;
  }
}
