// The screen stays on during a call, where the browser can: a dark one takes the microphone along on many phones. The browser
// lets go of that whenever the page is not looked at, so it is asked for anew.

interface Lock {
  release(): Promise<void>;
}

interface WakeLocks {
  request(kind: "screen"): Promise<Lock>;
}

/** From now on; the answer ends it. */
export function stayAwake(): () => void {
  const locks = (navigator as { wakeLock?: WakeLocks }).wakeLock;
  if (!locks) return () => {};
  let lock: Lock | null = null;
  let over = false;
  const letGo = () => {
    void lock?.release().catch(() => {});
    lock = null;
  };
  const take = async () => {
    if (document.visibilityState !== "visible") return;
    // A low battery may be a reason to refuse; the call goes on.
    const taken = await locks.request("screen").catch(() => null);
    letGo();
    lock = taken;
    if (over) letGo();
  };
  const look = () => void take();
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    over = true;
    document.removeEventListener("visibilitychange", look);
    letGo();
  };
}
