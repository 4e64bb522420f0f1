// What a model of a connected server takes and gives, as the codes of words. No DOM.
import type { MediaKind, UpstreamModel } from "../wire/models/upstreams";

/** In the order in which they are shown. */
export const MEDIA: readonly MediaKind[] = ["image", "audio", "video"];

export type Ability = MediaKind | "textOnly" | "speaks" | "tools" | "noTools";

/** What is known of it; nothing where nobody says it. */
export function abilitiesOf({ modalities, outputs, tools }: UpstreamModel): Ability[] {
  const taken = mediaOf(modalities);
  return [
    ...taken,
    ...(modalities !== null && taken.length === 0 ? ["textOnly" as const] : []),
    ...(outputs.includes("audio") ? ["speaks" as const] : []),
    ...(tools === null ? [] : [tools ? ("tools" as const) : ("noTools" as const)]),
  ];
}

/** What it takes besides text. */
export function mediaOf(modalities: readonly string[] | null): MediaKind[] {
  return MEDIA.filter((kind) => modalities?.includes(kind));
}
