// How the next reply is asked for: what the person chose for this conversation, else what they like, as far as the
// model can do it. Pure.
import type { Capabilities, Model } from "../wire/server";
import type { Effort, GenerationOptions } from "../wire/settings";

export interface Options {
  readonly model?: string;
  readonly thinking?: boolean;
  readonly effort?: Effort;
  readonly tools?: boolean;
  readonly servers?: Readonly<Record<string, boolean>>;
  /** The name the reply is shown under until the server says it. */
  readonly speaker: string;
}

interface Known {
  readonly capabilities: Capabilities | null;
  model(name: string): Model | null;
}

/** The conversation's own choices over the person's. */
export function chosen(likes: GenerationOptions, own: GenerationOptions): GenerationOptions {
  return { ...likes, ...own, servers: { ...likes.servers, ...own.servers } };
}

/** `options` as `chosen` gives them. Sampling is not among what is sent: the server layers that itself. */
export function optionsFor(server: Known, options: GenerationOptions): Options {
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
