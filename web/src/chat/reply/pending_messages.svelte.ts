// Messages sent while a reply runs, queued for its end or its next step.
import { composer as words } from "../../language/en/composer";
import { problemOf } from "../../wire/transport/http";
import { type Content, newId, type PendingMessage, resendable, textOf } from "../../wire/rows";
import type { RunOptions } from "../../wire/conversations";
import type { ChatDependencies } from "../dependencies";
import { restoreUnsent } from "../draft/restore";

export class PendingMessages {
  readonly #deps: ChatDependencies;
  #messages = $state.raw<readonly PendingMessage[]>([]);
  /** Requests the server has not answered yet. Changing a message before that would hit nothing. */
  readonly #sending = new Map<string, Promise<unknown>>();

  constructor(deps: ChatDependencies) {
    this.#deps = deps;
  }

  get messages(): readonly PendingMessage[] {
    return this.#messages;
  }

  /** Takes over the server's list. */
  load(messages: readonly PendingMessage[]): void {
    this.#messages = messages;
  }

  /** Returns true if the message was not queued: the reply had just ended, and the server answers it at once. */
  async add(conversation: string, content: readonly Content[], options: RunOptions, how: "queue" | "steer" = "queue"): Promise<boolean> {
    const { client, notices } = this.#deps;
    const id = newId();
    this.#messages = [...this.#messages, { id, content, how }];
    const message = { id, content: resendable(content, textOf(content)) };
    const sending = client.start(conversation, { verb: "send", run: newId(), message, busy: how, options });
    this.#sending.set(id, sending);
    const answer = await sending;
    this.#sending.delete(id);
    if (answer.kind === "ok" && "pending" in answer.value) return false;
    this.#remove(id);
    if (answer.kind === "ok") return true;
    restoreUnsent(this.#deps, conversation, content);
    notices.show(problemOf(answer));
    return false;
  }

  /** Hands the message to the running reply at its next step. */
  async steer(conversation: string, pending: PendingMessage): Promise<void> {
    if (!(await this.#isQueued(pending))) return;
    const answer = await this.#deps.client.changePending(conversation, pending.id, { how: "steer" });
    if (answer.kind !== "ok") return this.#deps.notices.show(problemOf(answer));
    this.#messages = this.#messages.map((other) => (other.id === pending.id ? { ...other, how: "steer" } : other));
    this.#deps.announcer.say(words().goesInSaid);
  }

  /** Cancels the message; with `keep` its content returns to the composer. */
  async withdraw(conversation: string, pending: PendingMessage, keep: boolean): Promise<void> {
    if (!(await this.#isQueued(pending))) return;
    const answer = await this.#deps.client.dropPending(conversation, pending.id);
    if (answer.kind !== "ok" && !(answer.kind === "refused" && answer.status === 404)) {
      return this.#deps.notices.show(problemOf(answer));
    }
    this.#remove(pending.id);
    if (keep) restoreUnsent(this.#deps, conversation, pending.content);
  }

  /** Whether the message is in the server's queue, once that has answered. */
  async #isQueued({ id }: PendingMessage): Promise<boolean> {
    const sending = this.#sending.get(id);
    if (sending === undefined) return true;
    await sending;
    return this.#messages.some((other) => other.id === id);
  }

  #remove(id: string): void {
    this.#messages = this.#messages.filter((other) => other.id !== id);
  }
}
