// Folder and tag API.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

export interface Folder {
  readonly id: string;
  readonly name: string;
  /** Parent folder; absent or null at the top level. */
  readonly parent?: string | null;
}

export class FolderClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** Sorted by name. */
  async all(): Promise<Answer<readonly Folder[]>> {
    const answer = await request<{ folders: readonly Folder[] }>(this.#fetch, "api/folders");
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.folders } : answer;
  }

  /** Creates the folder, or updates the one with this id. */
  put({ id, name, parent = null }: Folder): Promise<Answer<Folder>> {
    return sendJson(this.#fetch, "PUT", this.#at(id), { name, parent });
  }

  /** Its contents move to its parent. */
  delete(id: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", this.#at(id));
  }

  /** Each tag with its number of conversations. */
  async tags(): Promise<Answer<Readonly<Record<string, number>>>> {
    const answer = await request<{ tags: Readonly<Record<string, number>> }>(this.#fetch, "api/tags");
    return answer.kind === "ok" ? { kind: "ok", value: answer.value.tags } : answer;
  }

  #at(id: string): string {
    return `api/folders/${encodeURIComponent(id)}`;
  }
}
