// How the next request is asked: what the person prefers, as far as the server and the model can do it. Pure.
import type { Capabilities, Model } from "../wire/server";

export interface Options {
  readonly model?: string;
  readonly thinking?: boolean;
  /** The name the reply is shown under until the server says it. */
  readonly speaker: string;
}

interface Known {
  readonly capabilities: Capabilities | null;
  model(name: string): Model | null;
}

export function optionsFor(server: Known, preferences: { readonly model: string; readonly thinking: boolean }): Options {
  const model = server.model(preferences.model);
  return {
    speaker: model?.name ?? "The model",
    ...(model && model.name !== server.capabilities?.default_model ? { model: model.name } : {}),
    ...(model?.verbs.includes("thinking") ? { thinking: preferences.thinking } : {}),
  };
}
