import { beforeEach, describe, expect, it } from "vitest";

import { FolderCommands } from "../../../src/chat/list/folder_commands";
import { ConversationList } from "../../../src/chat/list/conversation_list.svelte";
import { Notices } from "../../../src/chat/announce/notices.svelte";
import { MemoryStorage } from "../../../src/settings/storage";
import { ConversationClient } from "../../../src/wire/chat/conversations";
import { FolderClient } from "../../../src/wire/chat/folders";
import { FakeClock } from "../../clock";
import { settle, FakeServer } from "../../server";

let server: FakeServer;
let notices: Notices;
let list: ConversationList;
let folderCommands: FolderCommands;

beforeEach(async () => {
  const clock = new FakeClock();
  server = new FakeServer();
  notices = new Notices(clock);
  const client = new ConversationClient(server.fetch);
  list = new ConversationList({
    client,
    folders: new FolderClient(server.fetch),
    storage: new MemoryStorage(),
    clock,
    wall: () => 0,
    notices,
    onDeleted: () => false,
    onRestored: () => {},
    onUpdated: () => {},
  });
  folderCommands = new FolderCommands({ list, client, notices });
  server.page = 2;
  for (const id of ["a", "b", "c"]) server.conversation(id, [], id);
  await list.load();
});

const names = () => list.folders.nodes.map(({ folder }) => folder.name);
const placesOf = () => [...server.conversations.values()].map(({ conversation }) => conversation.folder ?? null);

describe("filing", () => {
  it("makes folders, in others, and opens them", async () => {
    const tea = await folderCommands.create(" Tea ", null);
    const green = await folderCommands.create("Green", tea);
    expect(names()).toEqual(["Tea", "Green"]);
    expect(list.folders.open.has(tea!) && list.folders.open.has(green!)).toBe(true);
    expect(await folderCommands.create("  ", null)).toBeNull();
  });

  it("says why a folder cannot be", async () => {
    server.refusal = { status: 400, code: "cycle", message: "A folder cannot be in itself." };
    expect(await folderCommands.create("Tea", null)).toBeNull();
    expect(notices.current?.text).toBe("A folder cannot be in itself.");
  });

  it("takes a folder away and keeps what is in it; and brings it back with all of that", async () => {
    const tea = (await folderCommands.create("Tea", null))!;
    await folderCommands.create("Green", tea);
    await list.move(["a", "b", "c"], tea);
    await folderCommands.remove(list.folders.get(tea)!);
    expect(names()).toEqual(["Green"]);
    expect(placesOf()).toEqual([null, null, null]);
    expect(notices.current?.text).toBe("Deleted folder “Tea”. Its contents were kept.");
    notices.current?.action?.run();
    await settle();
    expect(names()).toEqual(["Tea", "Green"]);
    expect(list.folders.nodes.map(({ depth }) => depth)).toEqual([0, 1]);
    expect(placesOf()).toEqual([tea, tea, tea]);
  });
});
