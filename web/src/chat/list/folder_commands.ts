// What is done with folders: made, renamed, moved, taken away and brought back. Loaded when it is wanted.
import { shelving as words } from "../../language/en/shelving";
import { shell } from "../../language/en/shell";
import type { ConversationClient } from "../../wire/conversations";
import type { Folder } from "../../wire/folders";
import { type Answer, problemOf } from "../../wire/transport/http";
import { newId } from "../../wire/rows";
import type { ConversationList } from "./conversation_list.svelte";
import type { Notices } from "../announce/notices.svelte";

export class FolderCommands {
  readonly #list: ConversationList;
  readonly #client: ConversationClient;
  readonly #notices: Notices;

  constructor({ list, client, notices }: { readonly list: ConversationList; readonly client: ConversationClient; readonly notices: Notices }) {
    this.#list = list;
    this.#client = client;
    this.#notices = notices;
  }

  /** Gives its id; null where it could not be made. */
  async create(name: string, parent: string | null): Promise<string | null> {
    const folder = { id: newId(), name: name.trim(), parent };
    if (folder.name === "" || !(await this.update(folder))) return null;
    const { folders } = this.#list;
    if (parent !== null) folders.fold(parent, false);
    folders.fold(folder.id, false);
    return folder.id;
  }

  /** Give it another name or place; gives whether it has them. */
  async update(folder: Folder): Promise<boolean> {
    const { folders } = this.#list;
    const answer = await folders.client.put(folder);
    this.#reportProblem(answer);
    await folders.load();
    return answer.kind === "ok";
  }

  /** What was in it goes where it was. */
  async remove(folder: Folder): Promise<void> {
    const { folders } = this.#list;
    const conversations = await this.#conversations(folder.id);
    const subfolders = folders.nodes.filter((node) => node.folder.parent === folder.id).map((node) => node.folder);
    const answer = conversations.kind === "ok" ? await folders.client.delete(folder.id) : conversations;
    this.#reportProblem(answer);
    await this.#reload();
    if (answer.kind !== "ok" || conversations.kind !== "ok") return;
    this.#notices.show(words().deleted(folder.name), { label: shell().undo, run: () => void this.#restore(folder, subfolders, conversations.value) });
  }

  async #restore(folder: Folder, subfolders: readonly Folder[], conversations: readonly string[]): Promise<void> {
    const { client } = this.#list.folders;
    this.#notices.clear();
    let answer: Answer<unknown> = await client.put(folder);
    for (const child of answer.kind === "ok" ? subfolders : []) answer = await client.put(child);
    if (answer.kind === "ok" && conversations.length > 0) answer = await this.#client.bulk(conversations, "move", folder.id);
    this.#reportProblem(answer);
    await this.#reload();
  }

  /** Every conversation in it. */
  async #conversations(folder: string): Promise<Answer<readonly string[]>> {
    const ids = new Set<string>();
    for (const archived of [false, true]) {
      let before: string | null = null;
      do {
        const answer: Awaited<ReturnType<ConversationClient["list"]>> = await this.#client.list({ archived, folder, tag: null }, before);
        if (answer.kind !== "ok") return answer;
        for (const { id } of answer.value.conversations) ids.add(id);
        before = answer.value.next;
      } while (before !== null);
    }
    return { kind: "ok", value: [...ids] };
  }

  async #reload(): Promise<void> {
    await Promise.all([this.#list.folders.load(), this.#list.load()]);
  }

  #reportProblem(answer: Answer<unknown>): void {
    if (answer.kind !== "ok") this.#notices.show(problemOf(answer));
  }
}
