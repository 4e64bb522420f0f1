// The server's API of the folders and tags that conversations are sorted by. Knows no page.
import { type Answer, ask, type Fetch, tell } from "./transport/http";

export interface Folder {
  readonly id: string;
  readonly name: string;
  /** The folder it is in; absent or null where it is in none. */
  readonly parent?: string | null;
}

export class FolderClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** By name. */
  async all(): Promise<Answer<readonly Folder[]>> {
    const answer = await ask<{ folders: readonly Folder[] }>(this.#fetch, "api/folders");
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.folders } : answer;
  }

  /** Make one, or change the one with this id. */
  put({ id, name, parent = null }: Folder): Promise<Answer<Folder>> {
    return tell(this.#fetch, "PUT", this.#at(id), { name, parent });
  }

  /** What is in it goes where it was. */
  delete(id: string): Promise<Answer<unknown>> {
    return tell(this.#fetch, "DELETE", this.#at(id));
  }

  /** Every tag, and how many conversations carry it. */
  async tags(): Promise<Answer<Readonly<Record<string, number>>>> {
    const answer = await ask<{ tags: Readonly<Record<string, number>> }>(this.#fetch, "api/tags");
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.tags } : answer;
  }

  #at(id: string): string {
    return `api/folders/${encodeURIComponent(id)}`;
  }
}
