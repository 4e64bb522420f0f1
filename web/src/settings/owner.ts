// Whose the texts are that this browser keeps: they belong to whoever typed them, and not to who comes in next. Knows no
// text but that.
import type { TextStorage } from "./storage";

const KEY = "duologue.owner";

/** Note that `user` is here; gives whether somebody else was before, at the server under this `path`. */
export function isAnother(storage: TextStorage, path: string, user: string): boolean {
  const key = `${KEY} ${path}`;
  const before = storage.get(key);
  storage.put(key, user);
  return before !== null && before !== user;
}
