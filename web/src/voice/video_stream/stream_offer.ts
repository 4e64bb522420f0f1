// Whether a call asks for video of its face: the server renders the chosen one, and this browser decodes it.
import type { Avatar, AvatarClient } from "../../wire/voice/avatars";
import { DEFAULT_FACE } from "../face/open_face";

/** H.264 as the server encodes it, in the High profile and up to 1024 pixels a side. */
const CODEC = "avc1.640020";

/** The face to ask for; null: the page draws it. Never fails: without video there is the drawn face. */
export async function streamedFace(client: Pick<AvatarClient, "list">, face: string): Promise<Pick<Avatar, "id" | "kind"> | null> {
  if (!(await decodesVideo())) return null;
  const answer = await client.list();
  if (answer.kind !== "ok") return null;
  const { avatars, rendered = [] } = answer.value;
  const chosen = avatars.find(({ id }) => id === (face || DEFAULT_FACE));
  return chosen?.ready && rendered.includes(chosen.kind) ? chosen : null;
}

export async function decodesVideo(): Promise<boolean> {
  try {
    // Absent in older browsers, and over plain HTTP.
    return typeof VideoDecoder !== "undefined" && (await VideoDecoder.isConfigSupported({ codec: CODEC, optimizeForLatency: true })).supported === true;
  } catch {
    return false;
  }
}
