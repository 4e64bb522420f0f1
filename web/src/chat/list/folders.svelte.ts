// The folders and which of them are open in this browser. Their contents belong to the list.
import type { TextStorage } from "../../settings/storage";
import type { Folder, FolderClient } from "../../wire/chat/folders";
import { type FolderNode, folderNodes } from "./folder_tree";

const KEY = "duologue.folders";

export class Folders {
  readonly client: FolderClient;
  readonly #storage: TextStorage;
  #all = $state.raw<readonly Folder[]>([]);
  #open = $state.raw<ReadonlySet<string>>(new Set());
  readonly #nodes = $derived(folderNodes(this.#all));
  readonly #ids = $derived(new Set(this.#all.map(({ id }) => id)));
  #known = false;

  constructor(client: FolderClient, storage: TextStorage) {
    this.client = client;
    this.#storage = storage;
    this.#open = new Set((storage.get(KEY) ?? "").split(" ").filter((id) => id !== ""));
  }

  /** In display order. */
  get nodes(): readonly FolderNode[] {
    return this.#nodes;
  }

  get open(): ReadonlySet<string> {
    return this.#open;
  }

  /** Loaded at least once. */
  get known(): boolean {
    return this.#known;
  }

  has(id: string | null): boolean {
    return id !== null && this.#ids.has(id);
  }

  get(id: string): Folder | undefined {
    return this.#all.find((folder) => folder.id === id);
  }

  async load(): Promise<void> {
    const answer = await this.client.all();
    if (answer.kind !== "ok") return;
    this.#all = answer.value;
    this.#known = true;
  }

  fold(id: string, shut: boolean): void {
    const open = new Set([...this.#open].filter((other) => other !== id && (!this.#known || this.#ids.has(other))));
    if (!shut) open.add(id);
    this.#open = open;
    this.#storage.put(KEY, open.size === 0 ? null : [...open].join(" "));
  }
}
