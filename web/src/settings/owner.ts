// Remembers whose texts this browser stores, so that another user of the same browser does not see them.
import type { TextStorage } from "./storage";

const KEY = "duologue.owner";

/** Records the current user of the server under `path`. Returns whether it was another user before. */
export function isDifferentUser(storage: TextStorage, path: string, user: string): boolean {
  const key = `${KEY} ${path}`;
  const previous = storage.get(key);
  storage.put(key, user);
  return previous !== null && previous !== user;
}
