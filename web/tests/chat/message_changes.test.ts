import { expect, test, vi } from "vitest";

import type { ChatDependencies } from "../../src/chat/dependencies";
import { MessageChanges } from "../../src/chat/message_changes";
import { Thread } from "../../src/chat/thread.svelte";
import { messageOf } from "../../src/wire/chat/rows";

function opened() {
  const open = { id: "a" as string | null, running: false };
  const thread = new Thread();
  thread.put(messageOf({ id: "m1", parent: null, role: "user", content: [{ type: "text", text: "Hello" }] }));
  const client = {
    deleteMessage: vi.fn(async () => ({ kind: "ok", value: { deleted: ["m1"], leaf: null } })),
    restoreMessage: vi.fn(async () => ({ kind: "ok", value: null })),
    rewrite: vi.fn(async () => ({ kind: "unreachable" })),
  };
  const notices = { clear: vi.fn(), show: vi.fn(), showHere: vi.fn() };
  const refresh = vi.fn(async () => {});
  const deps = { client, notices, announcer: { say: vi.fn() } } as unknown as ChatDependencies;
  const changes = new MessageChanges(deps, { id: () => open.id, running: () => open.running, thread, muteFeed: () => {}, refresh, onChange: () => {} });
  return { open, thread, client, notices, refresh, changes };
}

test("an undone deletion is undone in its own chat, whichever is open by then", async () => {
  const { open, thread, client, notices, refresh, changes } = opened();
  await changes.remove(thread.get("m1")!);
  expect(thread.get("m1")).toBeUndefined();
  const undo = notices.showHere.mock.calls[0]![1] as { run: () => void };
  open.id = "b";
  undo.run();
  await vi.waitFor(() => expect(client.restoreMessage).toHaveBeenCalledWith("a", "m1"));
  expect(refresh).not.toHaveBeenCalled();
});

test("while a reply is written nothing is deleted", async () => {
  const { open, thread, client, changes } = opened();
  open.running = true;
  await changes.remove(thread.get("m1")!);
  expect(client.deleteMessage).not.toHaveBeenCalled();
});

test("words that the server did not take are taken back", async () => {
  const { thread, changes } = opened();
  const row = thread.get("m1")!;
  expect(await changes.rewrite(row, "Changed")).not.toBe("");
  expect(row.text).toBe("Hello");
});
