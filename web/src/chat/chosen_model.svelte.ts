// The model that answers the next message of the open conversation, kept current with what the server has. Owns the list of
// loadable models, which is read only if the conversation's model is not loaded. No DOM.
import type { Preferences } from "../settings/preferences.svelte";
import type { Server } from "../settings/server.svelte";
import type { Answer } from "../wire/transport/http";
import type { Model } from "../wire/server/server";
import type { Choices } from "./choices.svelte";
import { decideModel, type LoadableModel, loadedModel, type ModelDecision } from "./model_choice";

export interface ChosenModelDependencies {
  readonly choices: Choices;
  readonly preferences: Preferences;
  readonly server: Server;
  readonly list: () => Promise<Answer<{ readonly data: readonly LoadableModel[] }>>;
}

export class ChosenModel {
  readonly #deps: ChosenModelDependencies;
  #loadable = $state.raw<readonly LoadableModel[] | null>(null);
  readonly #decision = $derived.by(() => this.#decide());

  constructor(deps: ChosenModelDependencies) {
    this.#deps = deps;
  }

  get decision(): ModelDecision {
    return this.#decision;
  }

  /** The model that answers. Of one that is not loaded yet only the name is known. */
  get model(): Model | null {
    const decision = this.#decision;
    if (decision.kind === "use" || decision.kind === "fall_back") return decision.model;
    return unknownModel(decision.kind === "load" ? decision.name : decision.wanted);
  }

  /** The name of the model that answers if it is loaded; empty otherwise, for the default. Calls cannot wait for a load. */
  get loadedName(): string {
    const decision = this.#decision;
    return decision.kind === "use" ? (decision.model?.name ?? "") : "";
  }

  /** The conversation's model is not loaded: whether it can be has to be read again after each change of the loaded ones. */
  get needsCheck(): boolean {
    const { choices, server } = this.#deps;
    const name = choices.own.model ?? "";
    return name !== "" && server.capabilities !== null && loadedModel(name, this.#loaded()) === null;
  }

  async check(): Promise<void> {
    const answer = await this.#deps.list();
    if (answer.kind === "ok") this.#loadable = answer.value.data;
  }

  #loaded(): { models: readonly Model[]; aliases: Readonly<Record<string, string>> } {
    const { models = [], aliases = {} } = this.#deps.server.capabilities ?? {};
    return { models, aliases };
  }

  #decide(): ModelDecision {
    const { choices, preferences, server } = this.#deps;
    return decideModel(choices.own.model ?? "", preferences.options.model ?? "", {
      ...this.#loaded(),
      defaultModel: server.capabilities?.default_model ?? null,
      loadable: this.#loadable,
      mayLoad: server.capabilities?.features?.["models"] ?? false,
    });
  }
}

function unknownModel(name: string): Model {
  return { name, engine: "", context: 0, parameters: 0, description: "", bundled: false, verbs: [], state: "unloaded" };
}
