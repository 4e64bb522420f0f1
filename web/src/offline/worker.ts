// The service worker: keeps the page, so that it opens while the server is away. Decides nothing (see answering.ts);
// the build writes its name and the list of its files in front of this script.
import { fileAt, formerStores, isGone, PAGE, storeOf, wayOf } from "./answering";

declare const DUOLOGUE_BUILD: string;
declare const DUOLOGUE_FILES: readonly string[];

// What a service worker has beside what every script has; the two libraries of types exclude each other.
interface Later extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Later {
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
const store = storeOf(scope, DUOLOGUE_BUILD);
/** Milliseconds a network that says nothing is waited for, where there is something to show instead. */
const PATIENCE = 6000;
/** Files fetched at a time: a browser has few lines to one server, and the page needs some. */
const LANES = 3;

/** Ask for a file to keep it. Throws when it is not the one of this build. */
async function fetched(file: string): Promise<Response> {
  const address = new URL(file === PAGE ? "./" : file, scope);
  const answer = await fetch(address, { cache: "no-cache", credentials: "same-origin" });
  if (file !== PAGE) {
    if (!answer.ok) throw new Error(`${file} is not there`);
    return answer;
  }
  // Before the login the page comes with the status of a missing key, and is the page all the same.
  const body = await answer.text();
  if (!body.includes(`content="${DUOLOGUE_BUILD}"`)) throw new Error("the page is of another build");
  const headers = new Headers(answer.headers);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  return new Response(body, { headers });
}

async function keep(): Promise<void> {
  const kept = await caches.open(store);
  const waiting = [...files].values();
  const lane = async () => {
    for (const file of waiting) {
      const address = new URL(file, scope).href;
      const former = file.startsWith("assets/") ? await caches.match(address, { ignoreVary: true }) : undefined;
      await kept.put(address, former ?? (await fetched(file)));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function kept(request: Request): Promise<Response | undefined> {
  const file = fileAt(request.url, scope) ?? "";
  return (await caches.open(store)).match(new URL(file, scope), { ignoreVary: true });
}

async function fresh(request: Request): Promise<Response> {
  const asked = fetch(request);
  const late = new Promise<null>((done) => setTimeout(() => done(null), PATIENCE));
  const answer = await Promise.race([asked.catch(() => null), late]);
  if (answer !== null && !isGone(answer.status)) return answer;
  return (await kept(request)) ?? (answer === null ? asked : answer);
}

worker.addEventListener("install", (event) => (event as Later).waitUntil(keep()));

worker.addEventListener("activate", (event) => {
  const tidy = async () => {
    const former = formerStores(await caches.keys(), scope, DUOLOGUE_BUILD);
    await Promise.all(former.map((each) => caches.delete(each)));
    await worker.clients.claim();
  };
  (event as Later).waitUntil(tidy());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event as Fetching;
  const way = wayOf(request, scope, files);
  if (way === "untouched") return;
  const answer = way === "fresh" ? fresh(request) : kept(request).then((found) => found ?? fetch(request));
  (event as Fetching).respondWith(answer);
});

// A page of this build says so. Where it is the only one, none is left that needs what the former worker keeps. And
// somebody may have taken away what is kept.
worker.addEventListener("message", (event) => {
  const attend = async () => {
    const open = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
    if (open.length <= 1) await worker.skipWaiting();
    if (!(await caches.has(store))) await keep();
  };
  if ((event as MessageEvent).data === DUOLOGUE_BUILD) (event as unknown as Later).waitUntil(attend());
});
