// How much of the server's storage the user's files take.
import { type Answer, type Fetch, request } from "../transport/http";

/** Bytes. Files of temporary chats are in the server's memory, with a limit of their own. */
export interface StorageUse {
  readonly used: number;
  readonly limit: number;
  readonly temporary_used: number;
  readonly temporary_limit: number;
}

export function fetchStorageUse(fetch: Fetch): Promise<Answer<StorageUse>> {
  return request<StorageUse>(fetch, "api/storage");
}
