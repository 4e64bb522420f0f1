// The screen stays on during a call, where the browser can: a dark one takes the microphone along on many phones. The browser
// lets go of that whenever the page is not looked at, so it is asked for anew.

interface Lock {
  release(): Promise<void>;
}

interface WakeLocks {
  request(kind: "screen"): Promise<Lock>;
}

/** From now on; the answer ends it. */
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
    // A low battery may be a reason to refuse; the call goes on.
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
