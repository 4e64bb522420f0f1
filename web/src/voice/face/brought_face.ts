// Opens the face that somebody brought: its file is read from the server, and what draws its kind is loaded with it.
import { avatars as words } from "../../language/en/voice/avatars";
import type { Avatar, AvatarClient } from "../../wire/voice/avatars";
import type { OpenFace } from "./renderer";

/** For pictures and figures; drawn faces are opened elsewhere. Fails with a sentence for the person who chose it. */
export function broughtFace(client: Pick<AvatarClient, "file">, avatar: Pick<Avatar, "id" | "kind" | "landmarks">): OpenFace {
  return async (canvas, signal) => {
    if (avatar.kind === "picture" && !avatar.landmarks) throw new Error(words().unmarked);
    const file = await client.file(avatar.id, signal);
    if (file === null) throw new Error(words().noFile);
    if (avatar.kind === "figure") {
      const { figureFace } = await import("./figure/figure_face");
      return figureFace(file)(canvas, signal);
    }
    const { pictureFace } = await import("./picture/picture_face");
    return pictureFace(file, avatar.landmarks!)(canvas, signal);
  };
}
