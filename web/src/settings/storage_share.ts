// How full the user's storage is, for the bar in the settings. No DOM.

/** From this share on the bar warns. */
const NEARLY_FULL = 0.9;

export interface StorageShare {
  /** 0 to 1. */
  readonly share: number;
  readonly level: "fine" | "nearly" | "full";
}

export function storageShare(used: number, limit: number): StorageShare {
  const share = limit > 0 ? Math.min(1, Math.max(0, used / limit)) : 1;
  return { share, level: share >= 1 ? "full" : share >= NEARLY_FULL ? "nearly" : "fine" };
}
