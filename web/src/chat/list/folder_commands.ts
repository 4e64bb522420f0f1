// Creates, changes and deletes folders, with undo. Loaded on demand.
import { shelving as words } from "../../language/en/chat/shelving";
import { shell } from "../../language/en/shell/shell";
import type { ConversationClient } from "../../wire/chat/conversations";
import type { Folder } from "../../wire/chat/folders";
import { type Answer, problemOf } from "../../wire/transport/http";
import { newId } from "../../wire/chat/rows";
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

  /** Returns the folder's id, or null if it could not be created. */
  async create(name: string, parent: string | null): Promise<string | null> {
    const folder = { id: newId(), name: name.trim(), parent };
    if (folder.name === "" || !(await this.update(folder))) return null;
    const { folders } = this.#list;
    if (parent !== null) folders.fold(parent, false);
    folders.fold(folder.id, false);
    return folder.id;
  }

  /** Renames or moves a folder. Returns whether that worked. */
  async update(folder: Folder): Promise<boolean> {
    const { folders } = this.#list;
    const answer = await folders.client.put(folder);
    this.#reportProblem(answer);
    await folders.load();
    return answer.kind === "ok";
  }

  /** Deletes a folder; its contents move to its parent. The undo needs to know what was in it, so that is read first.
   * Deletes a folder; its contents move to its parent. The undo needs to know what was in it, so that is read first. */
  async remove(folder: Folder): Promise<void> {
    const { folders } = this.#list;
    const conversations = await this.#client.ids(folder.id);
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

  async #reload(): Promise<void> {
    await Promise.all([this.#list.folders.load(), this.#list.load()]);
  }

  #reportProblem(answer: Answer<unknown>): void {
    if (answer.kind !== "ok") this.#notices.show(problemOf(answer));
  }
}
