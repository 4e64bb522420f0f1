// What holds of a parameter where a person said nothing: the operator's word, else what the engine does. Pure: it says
// which of these it is, the sentence is the catalogue's.
import type { Model } from "../wire/server";
import type { Sampling } from "../wire/settings";
import { type Parameter, PARAMETERS } from "./parameters";

export type First =
  | { readonly from: "operator"; readonly value: unknown }
  | { readonly from: "engine"; readonly value: unknown }
  /** The engine cannot say. */
  | { readonly from: "upstream" }
  | { readonly from: "unknown" };

export function firstOf(name: string, model: Model | null, operator: Sampling | undefined): First {
  const set = operator?.[name];
  if (set !== undefined) return { from: "operator", value: set };
  const does = model?.defaults?.[name];
  if (does !== undefined) return { from: "engine", value: does };
  // An engine that says what it does has no biases of its own.
  if (name === "logit_bias" && model?.defaults && Object.keys(model.defaults).length > 0) return { from: "engine", value: {} };
  return model?.engine === "remote" ? { from: "upstream" } : { from: "unknown" };
}

/** Those a model applies, and those it does not. A model that does not say which is taken to apply all. */
export function dividedBy(model: Model | null): { readonly applied: readonly Parameter[]; readonly others: readonly Parameter[] } {
  const names = model?.sampling;
  if (!names) return { applied: PARAMETERS, others: [] };
  return { applied: PARAMETERS.filter(({ name }) => names.includes(name)), others: PARAMETERS.filter(({ name }) => !names.includes(name)) };
}
