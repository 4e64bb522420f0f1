// State of the recorded voices in the settings: the list, and what the server refused, by voice. No DOM.
import { type Answer, problemOf } from "../wire/transport/http";
import type { NewVoice, OwnVoice, OwnVoicesClient, OwnVoicesList, VoiceChange } from "../wire/voice/own_voices";

export interface OwnVoicesDependencies {
  readonly client: Pick<OwnVoicesClient, "list" | "add" | "change" | "transcribe" | "remove">;
  /** The voices to choose from are others now. */
  readonly onChange: () => void;
}

export class OwnVoices {
  readonly #deps: OwnVoicesDependencies;
  #list = $state.raw<OwnVoicesList | null>(null);
  #problem = $state("");
  #refusals = $state.raw<Readonly<Record<string, string>>>({});

  constructor(deps: OwnVoicesDependencies) {
    this.#deps = deps;
  }

  /** Null before the first answer. */
  get voices(): readonly OwnVoice[] | null {
    return this.#list?.ref_audios ?? null;
  }

  /** Whether the loaded speaker can imitate recordings; null while that is unknown. */
  get clones(): boolean | null {
    return this.#list?.clones ?? null;
  }

  get problem(): string {
    return this.#problem;
  }

  /** Why the last command about this voice was refused; empty if it was not. */
  refusal(id: string): string {
    return this.#refusals[id] ?? "";
  }

  async refresh(): Promise<void> {
    const answer = await this.#deps.client.list();
    this.#problem = problemOf(answer);
    if (answer.kind === "ok") this.#list = answer.value;
  }

  /** Keeps a voice. Returns a sentence if the server refuses it. */
  async add(voice: NewVoice): Promise<string> {
    const answer = await this.#deps.client.add(voice);
    if (answer.kind === "ok") await this.#changed();
    return problemOf(answer);
  }

  async change(id: string, change: VoiceChange): Promise<void> {
    const answer = await this.#deps.client.change(id, change);
    this.#refuse(id, answer);
    await this.#changed();
  }

  /** What the recogniser hears in the recording; empty if it was refused, which `refusal` tells. */
  async transcribe(id: string): Promise<string> {
    const answer = await this.#deps.client.transcribe(id);
    this.#refuse(id, answer);
    await this.refresh();
    return answer.kind === "ok" ? (answer.value.text ?? "") : "";
  }

  async remove(id: string): Promise<void> {
    this.#refuse(id, await this.#deps.client.remove(id));
    await this.#changed();
  }

  #refuse(id: string, answer: Answer<unknown>): void {
    this.#refusals = { ...this.#refusals, [id]: problemOf(answer) };
  }

  async #changed(): Promise<void> {
    await this.refresh();
    this.#deps.onChange();
  }
}
