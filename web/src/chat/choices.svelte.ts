// Model and options of the conversation on the page: its own choices over the user's preferences. A choice is stored
// with the conversation and becomes the default of the next new one. No DOM.
import { mergeOptions } from "../settings/options";
import type { Preferences } from "../settings/preferences.svelte";
import type { Answer } from "../wire/transport/http";
import type { GenerationOptions } from "../wire/server/settings";

/** Changed options; undefined removes one. */
export type OptionChanges = { readonly [Name in keyof GenerationOptions]?: GenerationOptions[Name] | undefined };

export interface ChoiceDependencies {
  readonly preferences: Preferences;
  /** Stores a conversation's options on the server. */
  readonly save: (conversation: string, options: GenerationOptions) => Promise<Answer<unknown>>;
  readonly reportProblem: (answer: Answer<unknown>) => void;
  /** Whether a model, by name or alias, is loaded or being loaded. */
  readonly isLoaded: (model: string) => boolean;
}

export class Choices {
  readonly #deps: ChoiceDependencies;
  #conversation: string | null = null;
  #own = $state.raw<GenerationOptions>({});

  constructor(deps: ChoiceDependencies) {
    this.#deps = deps;
  }

  /** The options in effect. */
  get current(): GenerationOptions {
    return mergeOptions(this.#deps.preferences.options, this.#own);
  }

  /** The conversation's own options. */
  get own(): GenerationOptions {
    return this.#own;
  }

  /** The options of a new conversation. A preferred model that is not loaded is dropped: the default answers, and would still
   * be shown if that model came back. */
  takeForNewChat(): GenerationOptions {
    const { model, thinking, effort, tools, servers } = this.current;
    const isUsable = model !== undefined && model !== "" && this.#deps.isLoaded(model);
    if (!isUsable && this.#deps.preferences.own.options?.model) this.followDefault();
    return JSON.parse(JSON.stringify({ model: isUsable ? model : undefined, thinking, effort, tools, servers })) as GenerationOptions;
  }

  /** New chats use the server's default model. */
  followDefault(): void {
    this.#deps.preferences.change({ options: { model: null } });
  }

  /** Another conversation is on the page; null is a new one. */
  switchTo(conversation: string | null, own: GenerationOptions = {}): void {
    this.#conversation = conversation;
    this.#own = own;
  }

  /** Changes this conversation's options and the user's preferences. */
  async choose(options: OptionChanges): Promise<void> {
    const changes = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, value ?? null]));
    this.#deps.preferences.change({ options: changes });
    await this.chooseHere(options);
  }

  /** Changes this conversation's options only; does nothing in a new one. */
  async chooseHere(options: OptionChanges): Promise<void> {
    if (this.#conversation === null) return;
    this.#own = mergeOptions(this.#own, options as GenerationOptions);
    const answer = await this.#deps.save(this.#conversation, this.#own);
    if (answer.kind !== "ok") this.#deps.reportProblem(answer);
  }
}
