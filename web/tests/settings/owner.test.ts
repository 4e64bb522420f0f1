import { describe, expect, it } from "vitest";

import { isDifferentUser } from "../../src/settings/owner";
import { MemoryStorage } from "../../src/settings/storage";

describe("who a browser's texts belong to", () => {
  it("is the first user until another logs in", () => {
    const storage = new MemoryStorage();
    const come = (user: string, path = "/") => isDifferentUser(storage, path, user);
    expect([come("ann"), come("ann"), come("bob"), come("bob"), come("ann")]).toEqual([false, false, true, false, true]);
  });

  it("is separate for each path, since servers may share an origin", () => {
    const storage = new MemoryStorage();
    expect([isDifferentUser(storage, "/a/", "ann"), isDifferentUser(storage, "/b/", "bob"), isDifferentUser(storage, "/a/", "ann")]).toEqual([false, false, false]);
  });
});
