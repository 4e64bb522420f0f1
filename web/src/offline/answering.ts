// How the service worker answers a request. Pure: what was asked in, the way out. Only the page itself is its business:
// the server's answers are never kept, for they are a person's, and an old one would be wrong.

/** "untouched": the browser asks as if nobody stood between. "fresh": the network, and what was kept where that is gone.
 * "kept": what was kept, and the network where nothing was. */
export type Way = "untouched" | "fresh" | "kept";

export interface Asked {
  readonly method: string;
  /** Of a request: "navigate" is somebody going to an address, in a tab or in a frame. */
  readonly mode: string;
  readonly destination: string;
  readonly url: string;
}

/** The page, in the list of its files. */
export const PAGE = "index.html";
/** Files in there are named by what they hold, so a name never means another file. */
const NAMED_BY_CONTENT = "assets/";

/** The file of the page that an address is, relative to `scope`, which ends in a slash; null where it is none. */
export function fileAt(url: string, scope: string): string | null {
  const address = url.replace(/[?#].*$/, "");
  if (!address.startsWith(scope)) return null;
  return address.slice(scope.length) || PAGE;
}

/** `files` are those of the page. */
export function wayOf(asked: Asked, scope: string, files: ReadonlySet<string>): Way {
  const file = fileAt(asked.url, scope);
  if (asked.method !== "GET" || file === null || !files.has(file)) return "untouched";
  if (file === PAGE) return asked.mode === "navigate" && asked.destination === "document" ? "fresh" : "untouched";
  if (asked.mode === "navigate") return "untouched";
  return file.startsWith(NAMED_BY_CONTENT) ? "kept" : "fresh";
}

/** Whether an answer is none: a proxy says that the server behind it is gone. */
export function isGone(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** What is kept for a build goes by this name; several servers may share one origin under different paths. */
export function storeOf(scope: string, build: string): string {
  return `duologue ${scope} ${build}`;
}

/** Of all the stores of an origin, those of this server's former builds. */
export function formerStores(stores: readonly string[], scope: string, build: string): string[] {
  return stores.filter((store) => store.startsWith(storeOf(scope, "")) && store !== storeOf(scope, build));
}
