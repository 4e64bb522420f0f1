import { describe, expect, it } from "vitest";

import { storageShare } from "../../src/settings/storage_share";

describe("how full the storage is", () => {
  it.each([
    [0, 100, 0, "fine"],
    [50, 100, 0.5, "fine"],
    [90, 100, 0.9, "nearly"],
    [100, 100, 1, "full"],
    [150, 100, 1, "full"], // the limit was lowered
    [0, 0, 1, "full"],
  ])("%d of %d", (used, limit, share, level) => {
    expect(storageShare(used, limit)).toEqual({ share, level });
  });
});
