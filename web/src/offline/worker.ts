// The service worker: caches the page, so that it opens while the server is away. The decisions are in cache_policy.ts;
// the build prepends its name and the list of its files to this script.
import { cacheName, fileAt, isUpstreamDown, outdatedCaches, PAGE, policyFor } from "./cache_policy";

declare const DUOLOGUE_BUILD: string;
declare const DUOLOGUE_FILES: readonly string[];

// Types of a service worker: TypeScript's own library for it excludes the DOM library.
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface Scope extends EventTarget {
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void>; matchAll(options: object): Promise<readonly unknown[]> };
  skipWaiting(): Promise<void>;
}

const worker = self as unknown as Scope;
const scope = worker.registration.scope;
const files = new Set(DUOLOGUE_FILES);
const currentCache = cacheName(scope, DUOLOGUE_BUILD);
/** Milliseconds to wait for the network when there is a cached copy. */
const TIMEOUT_MS = 6000;
/** Parallel downloads: a browser opens few connections to one server, and the page needs some. */
const MAX_PARALLEL = 3;

/** Downloads a file for the cache. Throws if it is not this build's. */
async function download(file: string): Promise<Response> {
  const address = new URL(file === PAGE ? "./" : file, scope);
  const answer = await fetch(address, { cache: "no-cache", credentials: "same-origin" });
  if (file !== PAGE) {
    if (!answer.ok) throw new Error(`${file} is not there`);
    return answer;
  }
  // Without a login the server sends the page with an error status. Its content is the same, but the cached response
  // has to be a successful one.
  const body = await answer.text();
  if (!body.includes(`content="${DUOLOGUE_BUILD}"`)) throw new Error("the page is of another build");
  const headers = new Headers(answer.headers);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  return new Response(body, { headers });
}

async function fillCache(): Promise<void> {
  const cached = await caches.open(currentCache);
  const queue = [...files].values();
  const runQueue = async () => {
    for (const file of queue) {
      const address = new URL(file, scope).href;
      const previous = file.startsWith("assets/") ? await caches.match(address, { ignoreVary: true }) : undefined;
      await cached.put(address, previous ?? (await download(file)));
    }
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL }, runQueue));
}

async function cached(request: Request): Promise<Response | undefined> {
  const file = fileAt(request.url, scope) ?? "";
  return (await caches.open(currentCache)).match(new URL(file, scope), { ignoreVary: true });
}

async function networkFirst(request: Request): Promise<Response> {
  const response = fetch(request);
  const timeout = new Promise<null>((done) => setTimeout(() => done(null), TIMEOUT_MS));
  const answer = await Promise.race([response.catch(() => null), timeout]);
  if (answer !== null && !isUpstreamDown(answer.status)) return answer;
  return (await cached(request)) ?? (answer === null ? response : answer);
}

worker.addEventListener("install", (event) => (event as ExtendableEvent).waitUntil(fillCache()));

worker.addEventListener("activate", (event) => {
  const cleanUp = async () => {
    const previous = outdatedCaches(await caches.keys(), scope, DUOLOGUE_BUILD);
    await Promise.all(previous.map((each) => caches.delete(each)));
    await worker.clients.claim();
  };
  (event as ExtendableEvent).waitUntil(cleanUp());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event as FetchEvent;
  const policy = policyFor(request, scope, files);
  if (policy === "bypass") return;
  const answer = policy === "network-first" ? networkFirst(request) : cached(request).then((hit) => hit ?? fetch(request));
  (event as FetchEvent).respondWith(answer);
});

// A page of this build announces itself. If it is the only page open, no page needs the previous worker's cache any
// more, and this worker takes over. The cache is filled again if the user has deleted it.
worker.addEventListener("message", (event) => {
  const activateWhenAlone = async () => {
    const open = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
    if (open.length <= 1) await worker.skipWaiting();
    if (!(await caches.has(currentCache))) await fillCache();
  };
  if ((event as MessageEvent).data === DUOLOGUE_BUILD) (event as unknown as ExtendableEvent).waitUntil(activateWhenAlone());
});
