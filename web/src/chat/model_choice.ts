// Which model answers next, as the server decides it (src/duologue/values/model_choice.py): the page shows beforehand what
// will happen. Pure.
import type { Model } from "../wire/server/server";

/** A model that can be loaded, as `/v1/model/list` has it; `failed`: its last load failed. */
export interface LoadableModel {
  readonly id: string;
  readonly failed?: boolean;
}

export interface ModelFacts {
  /** Loaded models and those being loaded. */
  readonly models: readonly Model[];
  readonly aliases: Readonly<Record<string, string>>;
  readonly defaultModel: string | null;
  /** Null while it is unknown. */
  readonly loadable: readonly LoadableModel[] | null;
  readonly mayLoad: boolean;
}

/** Why a chosen model does not answer. */
export type Reason = "unloaded" | "failed" | "gone";

export type ModelDecision =
  /** It answers; null if the server has none. */
  | { readonly kind: "use"; readonly model: Model | null }
  /** Sending a message loads it first. */
  | { readonly kind: "load"; readonly name: string }
  /** `model` answers instead of `wanted`. */
  | { readonly kind: "fall_back"; readonly wanted: string; readonly reason: Reason; readonly model: Model | null }
  /** Whether it can be loaded is not known yet. */
  | { readonly kind: "checking"; readonly wanted: string };

/** The loaded model with this name or alias. */
export function loadedModel(name: string, { models, aliases }: Pick<ModelFacts, "models" | "aliases">): Model | null {
  return models.find((model) => model.name === (models.some((other) => other.name === name) ? name : aliases[name])) ?? null;
}

/** `own` is the choice of the conversation, `preferred` that for new chats. */
export function decideModel(own: string, preferred: string, facts: ModelFacts): ModelDecision {
  const { models, defaultModel, loadable, mayLoad } = facts;
  const first = models.find(({ name }) => name === defaultModel) ?? models[0] ?? null;
  if (own === "") return { kind: "use", model: (preferred === "" ? null : loadedModel(preferred, facts)) ?? first };
  const loaded = loadedModel(own, facts);
  if (loaded) return { kind: "use", model: loaded };
  if (loadable === null) return { kind: "checking", wanted: own };
  const known = loadable.find(({ id }) => id === own);
  if (!known) return { kind: "fall_back", wanted: own, reason: "gone", model: first };
  if (known.failed) return { kind: "fall_back", wanted: own, reason: "failed", model: first };
  return mayLoad ? { kind: "load", name: own } : { kind: "fall_back", wanted: own, reason: "unloaded", model: first };
}
