// Options of the next run: the conversation's choices over the user's preferences, limited to what the model supports.
// Pure.
import type { Model } from "../wire/server/server";
import type { Effort, GenerationOptions } from "../wire/server/settings";

export interface Options {
  readonly model?: string;
  readonly thinking?: boolean;
  readonly effort?: Effort;
  readonly tools?: boolean;
  readonly servers?: Readonly<Record<string, boolean>>;
  /** Model name shown until the server reports one. */
  readonly speaker: string;
}

/** The conversation's own choices over the user's preferences. */
export function mergeOptions(preferred: GenerationOptions, own: GenerationOptions): GenerationOptions {
  return { ...preferred, ...own, servers: { ...preferred.servers, ...own.servers } };
}

/** `model` is the one that answers; `options` as merged by `mergeOptions`. Sampling is not sent: the server merges that itself. */
export function optionsFor(model: Model | null, defaultModel: string | null, options: GenerationOptions): Options {
  const verbs = model?.verbs ?? [];
  const { thinking = false, effort, tools, servers = {} } = options;
  return {
    speaker: model?.name ?? "",
    ...(model && model.name !== defaultModel ? { model: model.name } : {}),
    ...(verbs.includes("thinking") ? { thinking } : {}),
    ...(verbs.includes("effort") && thinking && effort ? { effort } : {}),
    ...(tools === undefined ? {} : { tools }),
    ...(Object.keys(servers).length === 0 ? {} : { servers }),
  };
}
