// Has the page kept for the time when the server is away. Knows the browser's registry of service workers, and nothing
// of what they do.

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

/** Register the worker, and tell it that this page is of `build`, also one that waits for former pages to go. Without it, in an
 * insecure place, or with a certificate nobody trusts, the page is as good as ever and not kept. */
export async function keepPage(registry: Registry | undefined, build: string | null): Promise<void> {
  if (registry === undefined || build === null) return;
  let registration: Registration | undefined;
  try {
    registration = await registry.register("./sw.js");
  } catch {
    return;
  }
  if (registration === undefined) return;
  const tell = () => registration.waiting?.postMessage(build);
  const watch = () => registration.installing?.addEventListener("statechange", tell);
  registration.active?.postMessage(build);
  tell();
  watch();
  registration.addEventListener("updatefound", watch);
}
