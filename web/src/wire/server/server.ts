// Server capabilities, and logging in and out.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";
import type { Sampling, Settings } from "./settings";

/** "empty": no model is loaded. */
export type ServerState = "ready" | "loading" | "restarting" | "failed" | "empty";

export interface Model {
  readonly name: string;
  /** The name as people write it. */
  readonly title?: string;
  readonly engine: string;
  readonly context: number;
  readonly parameters: number;
  readonly description: string;
  readonly bundled: boolean;
  readonly verbs: readonly string[];
  readonly modalities?: readonly string[];
  /** What it may take as well: its server does not say, and refuses it where it must. */
  readonly untold?: readonly string[];
  /** Sampling fields the engine applies, and its defaults. */
  readonly sampling?: readonly string[];
  readonly defaults?: Sampling;
  /** "unloaded" only on this page: a conversation's model that sending a message would load. */
  readonly state?: "ready" | "loading" | "failed" | "offline" | "unloaded";
  readonly progress?: number | null;
  readonly detail?: string;
}

/** State of speech; each `detail` says why that part is unavailable. */
export interface VoiceState {
  readonly state: "absent" | "loading" | "ready" | "failed";
  readonly detail: string;
  readonly detector?: { readonly detail: string };
  readonly recogniser?: { readonly detail: string };
  readonly speaker?: { readonly detail: string };
}

/** Whether a mode can be used. A call is held by one of the models of `native` itself, or, with `cascade`, by a recogniser, any model and a
 * voice. */
export interface ModeStanding {
  readonly available: boolean;
  readonly native?: readonly string[];
  readonly cascade?: boolean;
}

export interface Capabilities {
  readonly version: string;
  readonly build: string | null;
  readonly state: ServerState;
  readonly detail: string;
  readonly default_model: string | null;
  readonly models: readonly Model[];
  /** Other names of loaded models. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Names of recommended models as people write them, loaded or not. */
  readonly titles?: Readonly<Record<string, string>>;
  /** The page's build differs from the server's: reload. */
  readonly outdated?: boolean;
  readonly ui?: { readonly defaults: Settings };
  readonly base_path?: string;
  readonly features?: Readonly<Record<string, boolean>>;
  /** Modes that admins switch: `turnbased`, `omni`, `audio_duplex`. */
  readonly apps?: Readonly<Record<string, boolean>>;
  readonly modes?: Readonly<Record<string, ModeStanding>>;
  readonly auth?: { readonly required: boolean; readonly user: string; readonly name: string; readonly role: "admin" | "user"; readonly keyed?: boolean };
  readonly limits?: Readonly<Record<string, number>>;
  readonly voice?: VoiceState;
}

/** Why calls are unavailable, in the server's words; empty where speech is not installed or the state is unknown. */
export function callUnavailableReason(voice: VoiceState | undefined): string {
  if (!voice || voice.state === "absent") return "";
  return voice.detail || voice.detector?.detail || voice.recogniser?.detail || voice.speaker?.detail || "";
}

export function fetchCapabilities(fetch: Fetch, build: string | null = null): Promise<Answer<Capabilities>> {
  return request<Capabilities>(fetch, "api/capabilities", build === null ? {} : { headers: { "Duologue-Build": build } });
}

export function login(fetch: Fetch, key: string): Promise<Answer<unknown>> {
  return sendJson(fetch, "POST", "api/session", { key });
}

export function logout(fetch: Fetch): Promise<Answer<unknown>> {
  return sendJson(fetch, "DELETE", "api/session");
}
