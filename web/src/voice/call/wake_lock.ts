// Keeps the screen on during a call, where the browser can: many phones stop the microphone with the screen. Browsers
// release the lock when the page is hidden, so it is requested again when it becomes visible.

interface Lock {
  release(): Promise<void>;
}

interface WakeLocks {
  request(kind: "screen"): Promise<Lock>;
}

/** Takes effect at once; the returned function ends it. */
export function keepScreenOn(): () => void {
  const locks = (navigator as { wakeLock?: WakeLocks }).wakeLock;
  if (!locks) return () => {};
  let lock: Lock | null = null;
  let ended = false;
  const release = () => {
    void lock?.release().catch(() => {});
    lock = null;
  };
  const acquire = async () => {
    if (document.visibilityState !== "visible") return;
    // The browser may refuse, for example on low battery; the call continues.
    const acquired = await locks.request("screen").catch(() => null);
    release();
    lock = acquired;
    if (ended) release();
  };
  const onVisibilityChange = () => void acquire();
  document.addEventListener("visibilitychange", onVisibilityChange);
  onVisibilityChange();
  return () => {
    ended = true;
    document.removeEventListener("visibilitychange", onVisibilityChange);
    release();
  };
}
