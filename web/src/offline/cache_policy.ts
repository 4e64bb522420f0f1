// How the service worker answers each request. Pure. Only the page's own files are cached: API answers belong to a user
// and must never be stale.

/** "bypass": the browser handles the request as if there were no worker. "network-first" falls back to the cache,
 * "cache-first" to the network. */
export type CachePolicy = "bypass" | "network-first" | "cache-first";

export interface RequestInfo {
  readonly method: string;
  /** Of a Request: "navigate" is opening an address in a tab or frame. */
  readonly mode: string;
  readonly destination: string;
  readonly url: string;
}

/** The page in the list of its files. */
export const PAGE = "index.html";
/** Files in here carry a content hash in their name, so a name always means the same content. */
const HASHED_FILES = "assets/";

/** The page's file at an address, relative to `scope`, which ends in a slash; null if it is not one. */
export function fileAt(url: string, scope: string): string | null {
  const address = url.replace(/[?#].*$/, "");
  if (!address.startsWith(scope)) return null;
  return address.slice(scope.length) || PAGE;
}

/** `files` are the page's own. */
export function policyFor(request: RequestInfo, scope: string, files: ReadonlySet<string>): CachePolicy {
  const file = fileAt(request.url, scope);
  if (request.method !== "GET" || file === null || !files.has(file)) return "bypass";
  if (file === PAGE) return request.mode === "navigate" && request.destination === "document" ? "network-first" : "bypass";
  if (request.mode === "navigate") return "bypass";
  return file.startsWith(HASHED_FILES) ? "cache-first" : "network-first";
}

/** Whether a reverse proxy says that the server behind it is down. */
export function isUpstreamDown(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** Name of a build's cache. Several servers may share one origin under different paths. */
export function cacheName(scope: string, build: string): string {
  return `duologue ${scope} ${build}`;
}

/** Caches of earlier builds of this server's page. */
export function outdatedCaches(stores: readonly string[], scope: string, build: string): string[] {
  return stores.filter((store) => store.startsWith(cacheName(scope, "")) && store !== cacheName(scope, build));
}
