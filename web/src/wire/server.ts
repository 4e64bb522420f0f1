// What the server says of itself, and logging in to it.
import { type Answer, ask, type Fetch, tell } from "./transport/http";
import type { Sampling, Settings } from "./settings";

/** "empty": no model is loaded. */
export type ServerState = "ready" | "loading" | "restarting" | "failed" | "empty";

export interface Model {
  readonly name: string;
  readonly engine: string;
  readonly context: number;
  readonly parameters: number;
  readonly description: string;
  readonly bundled: boolean;
  readonly verbs: readonly string[];
  readonly modalities?: readonly string[];
  /** Which fields of sampling it applies, and what it does where they are absent. */
  readonly sampling?: readonly string[];
  readonly defaults?: Sampling;
  readonly state?: "ready" | "loading" | "failed" | "offline";
  readonly progress?: number | null;
  readonly detail?: string;
}

/** How the voice is; the sentences say why something of it is not there. */
export interface VoiceState {
  readonly state: "absent" | "loading" | "ready" | "failed";
  readonly detail: string;
  readonly detector?: { readonly detail: string };
  readonly recogniser?: { readonly detail: string };
  readonly speaker?: { readonly detail: string };
}

export interface Capabilities {
  readonly version: string;
  readonly build: string | null;
  readonly state: ServerState;
  readonly detail: string;
  readonly default_model: string | null;
  readonly models: readonly Model[];
  /** The page of another build asks. */
  readonly outdated?: boolean;
  readonly ui?: { readonly defaults: Settings };
  readonly base_path?: string;
  readonly features?: Readonly<Record<string, boolean>>;
  readonly auth?: { readonly required: boolean; readonly user: string; readonly name: string; readonly role: "admin" | "user"; readonly keyed?: boolean };
  readonly limits?: Readonly<Record<string, number>>;
  readonly voice?: VoiceState;
}

/** The server's own sentence about a voice that cannot be called; empty where it was never installed, or is not known. */
export function whyNoCall(voice: VoiceState | undefined): string {
  if (!voice || voice.state === "absent") return "";
  return voice.detail || voice.detector?.detail || voice.recogniser?.detail || voice.speaker?.detail || "";
}

export function fetchCapabilities(fetch: Fetch, build: string | null = null): Promise<Answer<Capabilities>> {
  return ask<Capabilities>(fetch, "api/capabilities", build === null ? {} : { headers: { "Duologue-Build": build } });
}

export function login(fetch: Fetch, key: string): Promise<Answer<unknown>> {
  return tell(fetch, "POST", "api/session", { key });
}

export function logout(fetch: Fetch): Promise<Answer<unknown>> {
  return tell(fetch, "DELETE", "api/session");
}
