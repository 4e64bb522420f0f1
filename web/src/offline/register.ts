// Registers the service worker.

interface Registry {
  register(address: string): Promise<Registration | undefined>;
}

interface Worker extends EventTarget {
  readonly state: string;
  postMessage(build: string): void;
}

interface Registration extends EventTarget {
  readonly waiting: Worker | null;
  readonly installing: Worker | null;
  readonly active: Worker | null;
}

/** Registers the worker and tells it this page's build, including one that waits for older pages to close.
 * Registration fails without a secure context or with an untrusted certificate; the page then works as usual, only
 * not offline. */
export async function registerWorker(registry: Registry | undefined, build: string | null): Promise<void> {
  if (registry === undefined || build === null) return;
  let registration: Registration | undefined;
  try {
    registration = await registry.register("./sw.js");
  } catch {
    return;
  }
  if (registration === undefined) return;
  const sendBuild = () => registration.waiting?.postMessage(build);
  const watchInstall = () => registration.installing?.addEventListener("statechange", sendBuild);
  registration.active?.postMessage(build);
  sendBuild();
  watchInstall();
  registration.addEventListener("updatefound", watchInstall);
}
