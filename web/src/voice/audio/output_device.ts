// Output devices, where the browser lets a page choose one.
import type { TextStorage } from "../../settings/storage";
import type { Device } from "./microphone";

const KEY = "duologue.loudspeaker";

type Routed = AudioContext & { setSinkId(id: string): Promise<void> };

/** Whether the browser lets a page choose. */
export function canChooseOutput(): boolean {
  return typeof AudioContext !== "undefined" && "setSinkId" in AudioContext.prototype;
}

/** Empty: the browser's default. Stored in this browser, since other devices have other loudspeakers. */
export function readOutput(storage: TextStorage): string {
  return storage.get(KEY) ?? "";
}

export function writeOutput(storage: TextStorage, id: string): void {
  storage.put(KEY, id === "" ? null : id);
}

/** Empty if there is no choice. */
export async function listOutputs(): Promise<Device[]> {
  if (!canChooseOutput()) return [];
  const devices = (await (navigator.mediaDevices as MediaDevices | undefined)?.enumerateDevices().catch(() => [])) ?? [];
  return devices.filter(({ kind, deviceId }) => kind === "audiooutput" && deviceId !== "" && deviceId !== "default").map(({ deviceId, label }) => ({ id: deviceId, label }));
}

/** Routes audio to a device. Returns false if it is missing or not allowed; the default is used then. */
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
