// Changes of single messages of the open conversation: another version in view, new words, deletion and its undo, a copy of the
// path up to one. They are shown when the server has agreed, or taken back. No DOM.
import { thread as words } from "../language/en/chat/thread";
import type { DeletionPreview } from "../wire/chat/conversations";
import { newId, resendable, withNewText } from "../wire/chat/rows";
import { type Answer, problemOf } from "../wire/transport/http";
import { chatAddress } from "../shell/route";
import type { ChatDependencies } from "./dependencies";
import type { Row, Thread } from "./thread.svelte";

/** The open conversation. */
export interface MessagesHost {
  readonly id: () => string | null;
  readonly running: () => boolean;
  readonly thread: Thread;
  /** This page changed the conversation: ignore the feed's echo. */
  readonly muteFeed: () => void;
  readonly refresh: () => Promise<void>;
  /** What the model reads has changed. */
  readonly onChange: () => void;
}

export class MessageChanges {
  readonly #deps: ChatDependencies;
  readonly #host: MessagesHost;

  constructor(deps: ChatDependencies, host: MessagesHost) {
    this.#deps = deps;
    this.#host = host;
  }

  /** Switches to another version of a message and the branch below it. */
  async show(row: Row): Promise<void> {
    const id = this.#host.id();
    if (this.#host.running() || id === null) return;
    this.#host.thread.show(row);
    this.#host.muteFeed();
    this.#host.onChange();
    await this.#deps.client.showBranch(id, this.#host.thread.leaf);
    this.#host.muteFeed();
  }

  /** Changes a message without regenerating what follows. Returns a sentence if that fails. */
  async rewrite(row: Row, text: string): Promise<string> {
    const id = this.#host.id();
    if (id === null) return "";
    const previous = row.message;
    row.message = { ...previous, content: withNewText(row.message.content, text), edited: 1 };
    this.#host.muteFeed();
    const answer = await this.#deps.client.rewrite(id, row.id, resendable(previous.content, text));
    this.#host.muteFeed();
    if (answer.kind !== "ok") row.message = previous;
    this.#host.onChange();
    return problemOf(answer);
  }

  deletion(row: Row): Promise<Answer<DeletionPreview>> {
    return this.#deps.client.deletion(this.#host.id() ?? "", row.id);
  }

  async remove(row: Row): Promise<void> {
    const id = this.#host.id();
    if (id === null || this.#host.running()) return;
    this.#host.muteFeed();
    const answer = await this.#deps.client.deleteMessage(id, row.id);
    this.#host.muteFeed();
    if (answer.kind !== "ok") return this.#deps.notices.showHere(problemOf(answer));
    this.#host.onChange();
    // Deleting a summary brings back the messages it replaced, which only the server has.
    if (row.kind === "summary" || row.role === "system") {
      this.#deps.announcer.say(words().deleted);
      return this.#host.refresh();
    }
    this.#host.thread.remove([row.id, ...answer.value.deleted], answer.value.leaf);
    this.#deps.notices.showHere(words().deleted, { label: words().undo, run: () => void this.#restore(id, row.id) });
  }

  async #restore(id: string, message: string): Promise<void> {
    this.#deps.notices.clear();
    const answer = await this.#deps.client.restoreMessage(id, message);
    if (this.#host.id() !== id) return;
    if (answer.kind !== "ok") return this.#deps.notices.showHere(problemOf(answer));
    this.#host.muteFeed();
    await this.#host.refresh();
    this.#host.onChange();
  }

  /** Copies the path up to a message into a new conversation and opens that. */
  async fork(message: string): Promise<void> {
    const { client, notices, navigate, onLoaded } = this.#deps;
    const id = this.#host.id();
    if (id === null) return;
    const answer = await client.fork(id, newId(), message);
    if (answer.kind !== "ok") return notices.showHere(problemOf(answer));
    onLoaded(answer.value);
    if (this.#host.id() !== id) return;
    navigate(answer.value.id);
    const goBack = () => {
      notices.clear();
      navigate(id);
    };
    notices.show(words().forked, { label: words().forkedFrom, run: goBack }, chatAddress(answer.value.id));
  }
}
