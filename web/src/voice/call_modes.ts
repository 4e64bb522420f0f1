// Which ways of calling the server offers, and why one cannot be used now. Pure.
import { voiceButtons as words } from "../language/en/voice/voice_buttons";
import { type Capabilities, callUnavailableReason, type Model } from "../wire/server/server";

/** A way to call: with sound alone, or with a camera or a screen. */
export type CallMode = "voice" | "video";

/** What a call begins with: sound alone, the camera, or the screen. */
export type CallKind = "voice" | "camera" | "screen";

export const modeOf = (kind: CallKind): CallMode => (kind === "voice" ? "voice" : "video");

/** The kinds of calls that the server offers, for this browser. */
export function offeredKinds(capabilities: Capabilities | null, sharesScreen: boolean): CallKind[] {
  const kinds: readonly CallKind[] = ["voice", "camera", ...(sharesScreen ? (["screen"] as const) : [])];
  return kinds.filter((kind) => isOffered(modeOf(kind), capabilities));
}

/** What one press of the call button begins: the kind of the last call where it is possible now, otherwise the first one that is offered. */
export function pressedKind(last: string | null, offered: readonly CallKind[], isPossible: (kind: CallKind) => boolean): CallKind | null {
  const remembered = offered.find((kind) => kind === last);
  return remembered !== undefined && isPossible(remembered) ? remembered : (offered[0] ?? null);
}

const APPS = { voice: "audio_duplex", video: "omni" } as const;

/** Nobody needs a button for what an admin has switched off. Until the capabilities are known, calling is worth a try. */
export function isOffered(mode: CallMode, capabilities: Capabilities | null): boolean {
  return capabilities?.apps?.[APPS[mode]] !== false;
}

/** A sentence why the call is not possible with this model; empty if it is, or nobody knows. `title`: a model's name as people write it. */
export function obstacle(mode: CallMode, capabilities: Capabilities | null, model: Model | null, title: (name: string) => string): string {
  if (capabilities === null || isNative(mode, capabilities, model)) return "";
  const { native = [], cascade = false } = capabilities.modes?.[APPS.voice] ?? {};
  const [other] = native;
  // With a model that speaks by itself the server has calls, but this model may have no voice.
  if (other !== undefined && !cascade) return words().noVoiceHere(title(other));
  if (!capabilities.features?.["voice"]) return callUnavailableReason(capabilities.voice) || words().noVoice;
  return mode === "video" ? blindness(capabilities, model, title) : "";
}

/** Whether the model holds such a call by itself. */
function isNative(mode: CallMode, capabilities: Capabilities, model: Model | null): boolean {
  return model !== null && (capabilities.modes?.[APPS[mode]]?.native?.includes(model.name) ?? false);
}

/** A sentence why a model gets no pictures. A model that does not say what it takes may see. */
export function blindness(capabilities: Capabilities | null, model: Model | null, title: (name: string) => string): string {
  if (!model?.modalities || sees(model)) return "";
  const other = capabilities?.models.find((each) => (each.state ?? "ready") === "ready" && sees(each));
  return other ? words().blindHere(title(model.name), title(other.name)) : words().blind(title(model.name));
}

function sees({ modalities = [], untold = [] }: Model): boolean {
  return modalities.includes("image") || untold.includes("image");
}
