// Which camera this device used last, and which others there are. Stored in this browser, since other devices have other
// cameras.
import type { TextStorage } from "../settings/storage";
import type { Device } from "../voice/audio/microphone";
import type { CameraChoice, Facing } from "./camera";

const KEY = "duologue.camera";

export const DEFAULT_CAMERA: CameraChoice = { device: "", facing: "user" };

export function readCamera(storage: TextStorage): CameraChoice {
  try {
    const { device, facing } = JSON.parse(storage.get(KEY) ?? "{}") as Partial<CameraChoice>;
    return { device: typeof device === "string" ? device : "", facing: facing === "environment" ? facing : "user" };
  } catch {
    return DEFAULT_CAMERA;
  }
}

export function writeCamera(storage: TextStorage, choice: CameraChoice): void {
  storage.put(KEY, JSON.stringify(choice));
}

/** How the user changes the camera: a phone, which knows where its cameras look, turns around; a desk names them. */
export type CameraChange = { readonly kind: "none" } | { readonly kind: "turn"; readonly to: Facing } | { readonly kind: "list"; readonly cameras: readonly Device[] };

export function cameraChange(cameras: readonly Device[], facing: Facing | undefined): CameraChange {
  if (cameras.length < 2) return { kind: "none" };
  if (facing !== undefined) return { kind: "turn", to: facing === "user" ? "environment" : "user" };
  return { kind: "list", cameras };
}

/** Only what looks at the user is shown as in a mirror. */
export function isMirrored(facing: Facing | undefined): boolean {
  return facing !== "environment";
}
