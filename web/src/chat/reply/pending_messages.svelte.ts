// Messages sent while a reply runs, queued for its end or its next step.
import { composer as words } from "../../language/en/chat/composer";
import { problemOf } from "../../wire/transport/http";
import { type Content, newId, type PendingMessage, resendable, textOf } from "../../wire/chat/rows";
import type { RunOptions } from "../../wire/chat/conversations";
import type { ChatDependencies } from "../dependencies";
import { restoreUnsent } from "../draft/restore";

export class PendingMessages {
  readonly #deps: ChatDependencies;
  #messages = $state.raw<readonly PendingMessage[]>([]);
  /** Requests the server has not answered yet. Changing a message before that would hit nothing. */
  readonly #sending = new Map<string, Promise<unknown>>();
  /** Counts changes made here: an answer to a read that began before the latest is stale. */
  changeCount = 0;

  constructor(deps: ChatDependencies) {
    this.#deps = deps;
  }

  get messages(): readonly PendingMessage[] {
    return this.#messages;
  }

  /** Resolves when the server has answered every message on its way; null if there is none. */
  sent(): Promise<unknown> | null {
    return this.#sending.size === 0 ? null : Promise.all(this.#sending.values());
  }

  /** Takes over the server's list, which does not have yet what is on its way. */
  load(messages: readonly PendingMessage[]): void {
    const underWay = this.#messages.filter(({ id }) => this.#sending.has(id) && !messages.some((other) => other.id === id));
    this.#messages = [...messages, ...underWay];
  }

  /** Another conversation is shown. */
  clear(): void {
    this.#messages = [];
  }

  /** Returns true if the message was not queued: the reply had just ended, and the server answers it at once. */
  async add(conversation: string, content: readonly Content[], options: RunOptions, how: "queue" | "steer" = "queue"): Promise<boolean> {
    const { client, notices } = this.#deps;
    const id = newId();
    this.#messages = [...this.#messages, { id, content, how }];
    const message = { id, content: resendable(content, textOf(content)) };
    // One after the other: the server answers them in the order in which they arrive.
    const before = this.sent();
    const start = () => client.start(conversation, { verb: "send", run: newId(), message, busy: how, options });
    const sending = before ? before.then(start) : start();
    this.#sending.set(id, sending);
    const answer = await sending;
    this.#sending.delete(id);
    this.changeCount++;
    if (answer.kind === "ok" && "pending" in answer.value) return false;
    this.#remove(id);
    if (answer.kind === "ok") return true;
    restoreUnsent(this.#deps, conversation, content);
    notices.showHere(problemOf(answer));
    return false;
  }

  /** Hands the message to the running reply at its next step. */
  async steer(conversation: string, pending: PendingMessage): Promise<void> {
    if (await this.#change(conversation, pending, "steer")) this.#deps.announcer.say(words().goesInSaid);
  }

  /** Sends a message that waits for the user: at once, or after the running reply. Returns whether that worked. */
  sendNow(conversation: string, pending: PendingMessage): Promise<boolean> {
    return this.#change(conversation, pending, "queue");
  }

  /** The reply was stopped or failed: the messages wait for the user, as on the server. */
  hold(): void {
    this.changeCount++;
    this.#messages = this.#messages.map((message) => ({ ...message, how: "hold" }));
  }

  /** Cancels the message; with `keep` its content returns to the composer. */
  async withdraw(conversation: string, pending: PendingMessage, keep: boolean): Promise<void> {
    if (!(await this.#isQueued(pending))) return;
    const answer = await this.#deps.client.dropPending(conversation, pending.id);
    if (answer.kind !== "ok" && !(answer.kind === "refused" && answer.status === 404)) {
      return this.#deps.notices.showHere(problemOf(answer));
    }
    this.#remove(pending.id);
    if (keep) restoreUnsent(this.#deps, conversation, pending.content);
  }

  async #change(conversation: string, pending: PendingMessage, how: "queue" | "steer"): Promise<boolean> {
    if (!(await this.#isQueued(pending))) return false;
    const answer = await this.#deps.client.changePending(conversation, pending.id, { how });
    if (answer.kind === "ok") {
      this.changeCount++;
      this.#messages = this.#messages.map((other) => (other.id === pending.id ? { ...other, how } : other));
    } else this.#deps.notices.showHere(problemOf(answer));
    return answer.kind === "ok";
  }

  /** Whether the message is in the server's queue, once that has answered. */
  async #isQueued({ id }: PendingMessage): Promise<boolean> {
    const sending = this.#sending.get(id);
    if (sending === undefined) return true;
    await sending;
    return this.#messages.some((other) => other.id === id);
  }

  #remove(id: string): void {
    this.changeCount++;
    this.#messages = this.#messages.filter((other) => other.id !== id);
  }
}
