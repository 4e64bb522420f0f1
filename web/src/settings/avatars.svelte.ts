// State of the brought faces in the settings: the list, and what the server refused, by face. No DOM.
import { type Answer, problemOf } from "../wire/transport/http";
import type { Avatar, AvatarChange, AvatarClient, NewAvatar } from "../wire/voice/avatars";

export interface AvatarsDependencies {
  readonly client: Pick<AvatarClient, "list" | "add" | "change" | "remove">;
  /** The faces to choose from are others now. */
  readonly onChange: () => void;
}

export class Avatars {
  readonly #deps: AvatarsDependencies;
  #list = $state.raw<readonly Avatar[] | null>(null);
  #problem = $state("");
  #refusals = $state.raw<Readonly<Record<string, string>>>({});

  constructor(deps: AvatarsDependencies) {
    this.#deps = deps;
  }

  /** The faces that people brought; null before the first answer. */
  get brought(): readonly Avatar[] | null {
    return this.#list?.filter(({ kind }) => kind !== "drawn") ?? null;
  }

  get problem(): string {
    return this.#problem;
  }

  /** Why the last command about this face was refused; empty if it was not. */
  refusal(id: string): string {
    return this.#refusals[id] ?? "";
  }

  async refresh(): Promise<void> {
    const answer = await this.#deps.client.list();
    this.#problem = problemOf(answer);
    if (answer.kind === "ok") this.#list = answer.value.avatars;
  }

  /** Keeps a face. A sentence instead of the face if the server refuses it. */
  async add(avatar: NewAvatar): Promise<Avatar | string> {
    const answer = await this.#deps.client.add(avatar);
    if (answer.kind !== "ok") return problemOf(answer);
    await this.#changed();
    return answer.value;
  }

  /** Whether the change was made; if not, `refusal` tells why. */
  async change(id: string, change: AvatarChange): Promise<boolean> {
    const answer = await this.#deps.client.change(id, change);
    this.#refuse(id, answer);
    await this.#changed();
    return answer.kind === "ok";
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
