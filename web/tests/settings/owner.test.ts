import { describe, expect, it } from "vitest";

import { isAnother } from "../../src/settings/owner";
import { MemoryShelf } from "../../src/settings/shelf";

describe("who a browser's texts belong to", () => {
  it("is the first who comes, until it is somebody else", () => {
    const shelf = new MemoryShelf();
    const come = (user: string, path = "/") => isAnother(shelf, path, user);
    expect([come("ann"), come("ann"), come("bob"), come("bob"), come("ann")]).toEqual([false, false, true, false, true]);
  });

  it("is told apart by the server's path: several may share one origin", () => {
    const shelf = new MemoryShelf();
    expect([isAnother(shelf, "/a/", "ann"), isAnother(shelf, "/b/", "bob"), isAnother(shelf, "/a/", "ann")]).toEqual([false, false, false]);
  });
});
