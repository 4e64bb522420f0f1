// Opens the face that was chosen: what draws its kind is loaded with it.
import { faces as words } from "../../language/en/voice/faces";
import type { AvatarClient } from "../../wire/voice/avatars";
import { openCanvasFace } from "./canvas_face";
import type { FaceRenderer, OpenFace } from "./renderer";

/** The face of people who have chosen none. */
export const DEFAULT_FACE = "mira";

/** Draws the face of this id, drawn or brought; empty: the default. Also the default if that face is gone. */
export function faceOf(client: Pick<AvatarClient, "get" | "look" | "file">, id: string): OpenFace {
  return async function open(canvas, signal): Promise<FaceRenderer> {
    const look = await client.look(id || DEFAULT_FACE);
    signal.throwIfAborted();
    if (look.kind === "ok") return openCanvasFace(canvas, look.value);
    if (look.kind !== "refused" || look.status !== 404 || id === "" || id === DEFAULT_FACE) throw new Error(words().failed);
    const brought = await client.get(id);
    signal.throwIfAborted();
    if (brought.kind === "refused" && brought.status === 404) return faceOf(client, DEFAULT_FACE)(canvas, signal);
    if (brought.kind !== "ok") throw new Error(words().failed);
    const { broughtFace } = await import("./brought_face");
    return broughtFace(client, brought.value)(canvas, signal);
  };
}
