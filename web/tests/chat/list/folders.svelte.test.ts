import { beforeEach, expect, it } from "vitest";

import { Folders } from "../../../src/chat/list/folders.svelte";
import { MemoryStorage } from "../../../src/settings/storage";
import { FolderClient } from "../../../src/wire/chat/folders";
import { FakeServer } from "../../server";

let server: FakeServer;
let storage: MemoryStorage;
const make = () => new Folders(new FolderClient(server.fetch), storage);

beforeEach(() => {
  server = new FakeServer();
  storage = new MemoryStorage();
  server.folders.set("f", { id: "f", name: "Tea" });
});

it("knows the folders once loaded", async () => {
  const folders = make();
  expect([folders.known, folders.has("f")]).toEqual([false, false]);
  await folders.load();
  expect([folders.known, folders.has("f"), folders.has(null), folders.get("f")?.name]).toEqual([true, true, false, "Tea"]);
  server.unreachable = true;
  await folders.load();
  expect(folders.has("f")).toBe(true);
});

it("restores open folders, and forgets deleted ones", async () => {
  make().fold("f", false);
  make().fold("gone", false);
  const folders = make();
  expect([...folders.open]).toEqual(["f", "gone"]);
  await folders.load();
  folders.fold("f", true);
  expect([...make().open]).toEqual([]);
});
