// Who answers and how, in the conversation on the page: its own choices, over what the person likes. What is chosen in
// a conversation stays with it, and is where the next new one begins. Knows no DOM.
import { chosen } from "../settings/options";
import type { Preferences } from "../settings/preferences.svelte";
import type { Answer } from "../wire/transport/http";
import type { GenerationOptions } from "../wire/settings";

/** What is chosen; undefined takes a choice back. */
export type OptionChanges = { readonly [Name in keyof GenerationOptions]?: GenerationOptions[Name] | undefined };

export interface ChoiceDependencies {
  readonly preferences: Preferences;
  /** Keep a conversation's choices on the server. */
  readonly save: (conversation: string, options: GenerationOptions) => Promise<Answer<unknown>>;
  readonly reportProblem: (answer: Answer<unknown>) => void;
}

export class Choices {
  readonly #deps: ChoiceDependencies;
  #conversation: string | null = null;
  #own = $state.raw<GenerationOptions>({});

  constructor(deps: ChoiceDependencies) {
    this.#deps = deps;
  }

  /** What holds now. */
  get current(): GenerationOptions {
    return chosen(this.#deps.preferences.options, this.#own);
  }

  /** What only this conversation has. */
  get own(): GenerationOptions {
    return this.#own;
  }

  /** Another conversation is on the page; null is a new one. */
  switchTo(conversation: string | null, own: GenerationOptions = {}): void {
    this.#conversation = conversation;
    this.#own = own;
  }

  /** Choose for this conversation and for those to come. */
  async choose(options: OptionChanges): Promise<void> {
    const changes = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, value ?? null]));
    this.#deps.preferences.change({ options: changes });
    await this.chooseHere(options);
  }

  /** Choose for this conversation alone; there has to be one. */
  async chooseHere(options: OptionChanges): Promise<void> {
    if (this.#conversation === null) return;
    this.#own = chosen(this.#own, options as GenerationOptions);
    const answer = await this.#deps.save(this.#conversation, this.#own);
    if (answer.kind !== "ok") this.#deps.reportProblem(answer);
  }
}
