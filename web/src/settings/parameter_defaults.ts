// The value in effect for a sampling parameter the user has not set: the operator's default, else the engine's. Pure.
import type { Model } from "../wire/server/server";
import type { Sampling } from "../wire/server/settings";
import { type Parameter, PARAMETERS } from "./parameters";

export type ParameterDefault =
  | { readonly from: "operator"; readonly value: unknown }
  | { readonly from: "engine"; readonly value: unknown }
  /** Decided by a remote API. */
  | { readonly from: "upstream" }
  | { readonly from: "unknown" };

export function defaultOf(name: string, model: Model | null, operator: Sampling | undefined): ParameterDefault {
  const operatorDefault = operator?.[name];
  if (operatorDefault !== undefined) return { from: "operator", value: operatorDefault };
  const engineDefault = model?.defaults?.[name];
  if (engineDefault !== undefined) return { from: "engine", value: engineDefault };
  // An engine that reports its defaults but no biases applies none.
  if (name === "logit_bias" && model?.defaults && Object.keys(model.defaults).length > 0) return { from: "engine", value: {} };
  return model?.engine === "remote" ? { from: "upstream" } : { from: "unknown" };
}

/** Splits the parameters by what a model applies. A model that does not say is assumed to apply all. */
export function splitBySupport(model: Model | null): { readonly applied: readonly Parameter[]; readonly others: readonly Parameter[] } {
  const names = model?.sampling;
  if (!names) return { applied: PARAMETERS, others: [] };
  return { applied: PARAMETERS.filter(({ name }) => names.includes(name)), others: PARAMETERS.filter(({ name }) => !names.includes(name)) };
}
