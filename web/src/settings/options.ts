// Options of the next run: the conversation's choices over the user's preferences, limited to what the model supports.
// Pure.
import type { Capabilities, Model } from "../wire/server";
import type { Effort, GenerationOptions } from "../wire/settings";

export interface Options {
  readonly model?: string;
  readonly thinking?: boolean;
  readonly effort?: Effort;
  readonly tools?: boolean;
  readonly servers?: Readonly<Record<string, boolean>>;
  /** Model name shown until the server reports one. */
  readonly speaker: string;
}

interface ServerInfo {
  readonly capabilities: Capabilities | null;
  model(name: string): Model | null;
}

/** The conversation's own choices over the user's preferences. */
export function mergeOptions(preferred: GenerationOptions, own: GenerationOptions): GenerationOptions {
  return { ...preferred, ...own, servers: { ...preferred.servers, ...own.servers } };
}

/** `options` as merged by `mergeOptions`. Sampling is not sent: the server merges that itself. */
export function optionsFor(server: ServerInfo, options: GenerationOptions): Options {
  const model = server.model(options.model ?? "");
  const verbs = model?.verbs ?? [];
  const { thinking = false, effort, tools, servers = {} } = options;
  return {
    speaker: model?.name ?? "",
    ...(model && model.name !== server.capabilities?.default_model ? { model: model.name } : {}),
    ...(verbs.includes("thinking") ? { thinking } : {}),
    ...(verbs.includes("effort") && thinking && effort ? { effort } : {}),
    ...(tools === undefined ? {} : { tools }),
    ...(Object.keys(servers).length === 0 ? {} : { servers }),
  };
}
