// What the server says of itself, and logging in to it.
import { type Answer, ask, type Fetch, tell } from "./http";

export type ServerState = "ready" | "loading" | "restarting" | "failed";

export interface Model {
  readonly name: string;
  readonly engine: string;
  readonly context: number;
  readonly parameters: number;
  readonly description: string;
  readonly bundled: boolean;
  readonly verbs: readonly string[];
  readonly modalities?: readonly string[];
}

export interface Capabilities {
  readonly version: string;
  readonly build: string | null;
  readonly state: ServerState;
  readonly detail: string;
  readonly default_model: string | null;
  readonly models: readonly Model[];
}

export function fetchCapabilities(fetch: Fetch): Promise<Answer<Capabilities>> {
  return ask<Capabilities>(fetch, "api/capabilities", {});
}

export function login(fetch: Fetch, key: string): Promise<Answer<unknown>> {
  return tell(fetch, "POST", "api/session", { key });
}
