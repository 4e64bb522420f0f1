import { beforeEach, describe, expect, it } from "vitest";

import { Announcer } from "../../src/chat/announce/announcer.svelte";
import { Attachments } from "../../src/chat/draft/attachments.svelte";
import { Chat } from "../../src/chat/chat.svelte";
import { Choices } from "../../src/chat/choices.svelte";
import { Draft } from "../../src/chat/draft/draft.svelte";
import { Notices } from "../../src/chat/announce/notices.svelte";
import type { ReplyTurn, Row } from "../../src/chat/thread.svelte";
import { Preferences } from "../../src/settings/preferences.svelte";
import { MemoryStorage } from "../../src/settings/storage";
import { ConversationClient } from "../../src/wire/chat/conversations";
import { EventStream } from "../../src/wire/transport/event_stream";
import { textOf } from "../../src/wire/chat/rows";
import { FakeClock } from "../clock";
import { settle, FakeServer } from "../server";

const nothing = new Promise<never>(() => {});

let clock: FakeClock;
let server: FakeServer;
let storage: MemoryStorage;
let draft: Draft;
let announcer: Announcer;
let notices: Notices;
let went: (string | null)[];
let troubles: number;
let loaded: string[];
let chat: Chat;
let speaker: string;

/** Another tab on the same server. */
function page(): Chat {
  draft = new Draft(storage);
  announcer = new Announcer(clock);
  notices = new Notices(clock);
  return new Chat({
    client: new ConversationClient(server.fetch),
    stream: (address, listener) => new EventStream(server.fetch, clock, address, listener),
    clock,
    draft,
    attachments: new Attachments(storage, () => {
      throw new Error("no uploads here");
    }),
    announcer,
    notices,
    choices: new Choices({
      preferences: new Preferences(storage, { read: () => nothing, change: () => nothing }, clock, () => {}),
      save: () => nothing,
      reportProblem: () => {},
      isLoaded: () => true,
    }),
    systemPrompt: () => "",
    options: () => ({ speaker, thinking: true }),
    titleOf: (model) => model,
    onFailure: () => void troubles++,
    onLoaded: ({ id }) => void loaded.push(id),
    navigate: (conversation, stays) => void went.push(stays ? `${conversation}, if the chat is in sight` : conversation),
  });
}

beforeEach(() => {
  clock = new FakeClock();
  server = new FakeServer();
  storage = new MemoryStorage();
  went = [];
  troubles = 0;
  loaded = [];
  speaker = "mini";
  chat = page();
});

const open = (conversation: string | null, message: string | null = null) => chat.open({ conversation, message });
const rows = () => chat.shown.flatMap((turn) => (turn.kind === "reply" ? turn.rows : [turn.row]));
const texts = () => rows().map((row) => row.text);
const said = (index: number) => rows()[index] as Row;
const lastReply = () => chat.shown.at(-1) as ReplyTurn;
const lastMessage = () => lastReply().rows.at(-1)!.message;

async function drawn(): Promise<void> {
  await settle();
  clock.draw();
}

async function told(question: string, answer: string): Promise<void> {
  chat.send(question);
  await settle();
  server.write(answer);
  server.end();
  await drawn();
}

describe("sending", () => {
  it("shows the message and its beginning answer at once", () => {
    expect(chat.send("one")).toBe(true);
    expect(texts()).toEqual(["one", ""]);
    expect(chat.running).toBe(true);
    expect(lastMessage()).toMatchObject({ status: "running", model: "mini" });
  });

  it("makes the conversation, goes to it, and asks for the reply as the person prefers", async () => {
    chat.send("one");
    await settle();
    expect(server.commands()).toEqual(["POST api/conversations", "POST api/conversations/ID/runs"]);
    expect(went).toEqual([chat.id]);
    expect(server.last("/runs")).toMatchObject({
      verb: "send",
      message: { content: [{ type: "text", text: "one" }] },
      parent: null,
      options: { thinking: true },
    });
    expect(server.last("/runs").options).not.toHaveProperty("speaker");
  });

  it("says the next thing after what was said last", async () => {
    await told("one", "1");
    await told("two", "2");
    expect(texts()).toEqual(["one", "1", "two", "2"]);
    expect(server.last("/runs").parent).toBe(said(1).id);
  });

  it("keeps the reply's place on the page when the server gives it its row", async () => {
    chat.send("one");
    const { key } = lastReply();
    await drawn();
    expect(lastReply().rows[0]!.id).toBe(server.row.id);
    expect(lastReply().key).toBe(key);
  });

  it("keeps what was made of the files with the row, also when the conversation is read again", async () => {
    chat.send("one");
    await settle();
    const notes = [{ where: "messages[0].content[1]", kind: "video", became: "frames", count: 12 }] as const;
    const fitted = { transcripts: [], notes };
    server.emit({ type: "fitted", message: server.row.id, notes });
    server.write("1");
    await drawn();
    expect(lastReply().rows[0]!.fitted).toEqual(fitted);
    server.end({ fitted });
    await drawn();
    clock.pass(2000);
    chat.handleEvent({ type: "changed", conversation: chat.id! });
    clock.pass(200);
    await settle();
    expect(lastReply().rows[0]!.fitted).toEqual(fitted);
  });

  it("sends nothing that is empty", () => {
    expect(chat.send("  \n")).toBe(false);
    draft.text = " ";
    expect(chat.submit()).toBe(false);
    expect(texts()).toEqual([]);
  });

  it("draws a fast reply once a frame, and its end at once", async () => {
    chat.send("one");
    await settle();
    for (const text of ["a", "b", "c"]) server.write(text);
    await settle();
    expect(textOf(lastMessage().content)).toBe("");
    clock.draw();
    expect(textOf(lastMessage().content)).toBe("abc");
    server.write("d");
    server.end();
    await settle();
    expect(lastMessage()).toMatchObject({ status: "done" });
    expect(texts()).toEqual(["one", "abcd"]);
    expect(chat.running).toBe(false);
  });

  it("takes the draft with it, and what is typed meanwhile into the new conversation", async () => {
    draft.text = "one";
    expect(chat.submit()).toBe(true);
    expect(draft.text).toBe("");
    draft.text = "next";
    await settle();
    expect(draft.text).toBe("next");
    expect(storage.get(`duologue.draft.${chat.id}`)).toBe("next");
    expect(storage.get("duologue.draft")).toBeNull();
  });
});

describe("stopping", () => {
  it("keeps what was said", async () => {
    chat.send("one");
    await settle();
    server.write("half");
    await drawn();
    chat.stop();
    expect(chat.reply.stopping).toBe(true);
    await settle();
    expect(lastMessage()).toMatchObject({ status: "stopped" });
    expect(texts()).toEqual(["one", "half"]);
    expect(draft.text).toBe("");
    clock.draw();
    expect(announcer.sentence).toBe("Stopped.");
  });

  it("puts back what had no answer, and says it again in its place", async () => {
    chat.send("one");
    await settle();
    chat.stop();
    await settle();
    expect(draft.text).toBe("one");
    chat.submit();
    await settle();
    expect(texts()).toEqual(["one", ""]);
    expect(server.commands().slice(-2)).toEqual(["DELETE api/conversations/ID/messages/ID", "POST api/conversations/ID/runs"]);
    expect(server.latest.messages).toHaveLength(2);
  });

  it("gives up on a server that has not accepted the run, and stops it if it does", async () => {
    let begin = () => {};
    server.gate = new Promise((resolve) => (begin = resolve));
    chat.send("one");
    await settle();
    chat.stop();
    clock.pass(2000);
    expect(chat.running).toBe(false);
    expect(draft.text).toBe("one");
    begin();
    await settle();
    expect(server.commands().at(-1)).toMatch(/stop$/);
  });

  it("stops as soon as the server has begun", async () => {
    chat.send("one");
    chat.stop();
    await settle();
    expect(server.commands().at(-1)).toMatch(/stop$/);
    expect(chat.running).toBe(false);
  });
});

describe("failing", () => {
  it("keeps the words, says why, and looks after the server", async () => {
    chat.send("one");
    await settle();
    server.write("half");
    server.end({ status: "failed", error: { kind: "model", code: "engine_failed", message: "The worker ended." } }, "failed");
    await settle();
    expect(lastMessage()).toMatchObject({ status: "failed", error: { message: "The worker ended." } });
    expect(texts()).toEqual(["one", "half"]);
    expect(troubles).toBe(1);
  });

  it("shows what the server refused on the reply, and Retry asks the same again", async () => {
    await told("zero", "0");
    server.refusal = { status: 400, code: "unsupported", message: "It takes no pictures." };
    chat.send("one");
    await settle();
    expect(lastMessage()).toMatchObject({ status: "failed", error: { code: "unsupported", message: "It takes no pictures." } });
    expect(draft.text).toBe("");
    const first = server.last("/runs");
    chat.regenerate(lastReply());
    await settle();
    expect(server.last("/runs")).toEqual(first);
    expect(texts()).toEqual(["zero", "0", "one", ""]);
  });

  it("reports an unreachable server, and the next message replaces the one that did not arrive", async () => {
    await told("zero", "0");
    server.unreachable = true;
    chat.send("one");
    await settle();
    expect(lastMessage().error?.message).toContain("isn’t responding");
    server.unreachable = false;
    chat.send("two");
    await settle();
    expect(texts()).toEqual(["zero", "0", "two", ""]);
    expect(server.last("/runs").parent).toBe(said(1).id);
  });

  it("reconnects without losing or repeating a word", async () => {
    chat.send("one");
    await settle();
    server.write("a");
    await drawn();
    server.cut();
    await settle();
    clock.pass(250);
    server.write("b");
    await drawn();
    server.write("c");
    await drawn();
    expect(texts()).toEqual(["one", "abc"]);
    expect(server.requests.at(-1)!.headers["Last-Event-ID"]).toBe("4");
  });

  it("reloads the conversation when the server's log of the run is shorter than expected", async () => {
    chat.send("one");
    await settle();
    server.write("half a reply");
    await drawn();
    Object.assign(server.row, { status: "interrupted", content: [{ type: "text", text: "half" }] });
    server.latest.conversation.running = null;
    for (let time = 0; time < 3; time++) {
      server.cut();
      await settle();
      clock.pass(1000);
      await settle();
    }
    expect(chat.running).toBe(false);
    expect(lastMessage().status).toBe("interrupted");
    expect(texts()).toEqual(["one", "half"]);
  });

  it("says why a reply breaks off whose server has stopped with the chat in its memory", async () => {
    chat.send("one");
    await settle();
    server.write("half a reply");
    await drawn();
    server.gone = { status: 410, code: "gateway_gone", message: "This was in the memory of a server that has stopped." };
    server.cut();
    await settle();
    for (let time = 0; time < 2; time++) {
      clock.pass(1000);
      await settle();
    }
    expect(chat.running).toBe(false);
    expect(texts()).toEqual(["one", "half a reply"]);
    expect(notices.current?.text).toBe("This was in the memory of a server that has stopped.");
  });

  it("reports a lost connection that does not return", async () => {
    chat.send("one");
    await settle();
    server.unreachable = true;
    server.cut();
    await settle();
    clock.pass(1000);
    expect(chat.reply.disconnected).toBe(true);
    await settle();
    server.unreachable = false;
    clock.pass(2000);
    await settle();
    expect(chat.reply.disconnected).toBe(false);
  });
});

describe("asking again", () => {
  it("leaves the first reply reachable", async () => {
    await told("one", "1");
    const first = said(1);
    chat.regenerate(lastReply());
    await settle();
    server.write("uno");
    server.end();
    await drawn();
    expect(texts()).toEqual(["one", "uno"]);
    expect(chat.versions(said(1)).map((row) => row.text)).toEqual(["1", "uno"]);
    void chat.show(first);
    expect(texts()).toEqual(["one", "1"]);
    await settle();
    expect(server.latest.conversation.leaf).toBe(first.id);
  });

  it("does not keep one that said nothing", async () => {
    chat.send("one");
    await settle();
    server.end({ status: "failed", error: { kind: "model", code: "x", message: "No." } }, "failed");
    await settle();
    chat.regenerate(lastReply());
    await settle();
    expect(chat.versions(said(1))).toHaveLength(1);
    expect(server.last("/runs")).toMatchObject({ verb: "regenerate", message: said(0).id });
  });

  it("continues a cut reply in its own row", async () => {
    chat.send("one");
    await settle();
    server.write("half ");
    server.end({ finish: "length" });
    await settle();
    const { key } = lastReply();
    chat.continueReply(lastReply());
    await settle();
    server.write("and half");
    server.end();
    await drawn();
    expect(texts()).toEqual(["one", "half and half"]);
    expect(lastReply().key).toBe(key);
  });

  it("makes a branch of an edited message, and keeps the old one", async () => {
    await told("one", "1");
    expect(chat.edit(said(0), "two")).toBe(true);
    await settle();
    server.write("2");
    server.end();
    await drawn();
    expect(texts()).toEqual(["two", "2"]);
    void chat.show(chat.versions(said(0))[0]!);
    expect(texts()).toEqual(["one", "1"]);
  });
});

describe("changing what was said", () => {
  it("keeps an edit in its place, and takes it back when the server will not", async () => {
    await told("one", "1");
    expect(await chat.rewrite(said(1), "uno")).toBe("");
    expect(texts()).toEqual(["one", "uno"]);
    expect(server.commands().at(-1)).toMatch(/^PATCH .*messages/);
    server.refusal = { status: 409, code: "run_in_progress", message: "It is being written." };
    expect(await chat.rewrite(said(1), "dos")).toBe("It is being written.");
    expect(texts()).toEqual(["one", "uno"]);
  });

  it("deletes a message and what follows it", async () => {
    await told("one", "1");
    await told("two", "2");
    await chat.remove(said(2));
    expect(texts()).toEqual(["one", "1"]);
  });
});

describe("a message sent while a reply runs", () => {
  it("waits, and is answered when that one is done", async () => {
    chat.send("one");
    await settle();
    chat.send("two");
    await settle();
    expect(chat.pending.map(({ content }) => textOf(content))).toEqual(["two"]);
    expect(server.last("/runs")).not.toHaveProperty("parent");
    server.end();
    await settle();
    const kept = server.latest;
    const [waited] = kept.pending.splice(0);
    await server.fetch(`api/conversations/${kept.conversation.id}/runs`, {
      method: "POST",
      body: JSON.stringify({ verb: "send", run: "next", message: waited, parent: kept.conversation.leaf }),
    });
    chat.handleEvent({ type: "run", conversation: kept.conversation.id, run: "next" });
    clock.pass(200);
    await drawn();
    expect(texts()).toEqual(["one", "", "two", ""]);
    expect(chat.pending).toEqual([]);
    expect(chat.running).toBe(true);
  });

  it("goes in at the next step when it was said in a hurry", async () => {
    chat.send("one");
    await settle();
    draft.text = "two";
    expect(chat.submit(true)).toBe(true);
    await settle();
    expect(server.last("/runs")).toMatchObject({ verb: "send", busy: "steer" });
    expect(chat.pending.map(({ how }) => how)).toEqual(["steer"]);
  });

  it("is taken back to where it was typed", async () => {
    chat.send("one");
    await settle();
    chat.send("two");
    await settle();
    await chat.withdraw(chat.pending[0]!, true);
    expect(chat.pending).toEqual([]);
    expect(draft.text).toBe("two");
  });

  it("goes into the running reply when it cannot wait", async () => {
    chat.send("one");
    await settle();
    chat.send("two");
    await settle();
    await chat.steer(chat.pending[0]!);
    expect(server.last(chat.pending[0]!.id)).toEqual({ how: "steer" });
    expect(chat.pending[0]!.how).toBe("steer");
  });

  it("is hurried, or taken back, when the server has it and not before", async () => {
    chat.send("one");
    await settle();
    for (const act of ["steer", "withdraw"] as const) {
      const { promise, come } = later();
      server.gate = promise;
      chat.send(act);
      await settle();
      const [waiting] = chat.pending.slice(-1);
      const acting = act === "steer" ? chat.steer(waiting!) : chat.withdraw(waiting!, true);
      await settle();
      server.gate = null;
      come();
      await acting;
    }
    expect(server.latest.pending.map(({ id }) => id)).toEqual(chat.pending.map(({ id }) => id));
    expect(chat.pending.map(({ how }) => how)).toEqual(["steer"]);
    const dealt = server.commands().filter((command) => /\/(runs|pending)/.test(command));
    expect(dealt.map((command) => command.split(" ")[0])).toEqual(["POST", "POST", "PATCH", "POST", "DELETE"]);
    expect(draft.text).toBe("withdraw");
    expect(notices.current).toBeNull();
  });

  it("stays taken back, or hurried, when a read of the chat that began before comes in after", async () => {
    chat.send("one");
    await settle();
    for (const text of ["two", "three"]) {
      chat.send(text);
      await settle();
    }
    const { promise, come } = later();
    server.readDelay = promise;
    chat.handleEvent({ type: "reset" });
    clock.pass(200);
    await settle();
    const [two, three] = chat.pending;
    await chat.withdraw(two!, false);
    await chat.steer(three!);
    server.readDelay = null;
    come();
    await settle();
    expect(chat.pending.map(({ content, how }) => `${textOf(content)} ${how}`)).toEqual(["three steer"]);
  });

  it("stays in sight when the chat is read while the server takes it", async () => {
    chat.send("one");
    await settle();
    const { promise, come } = later();
    server.gate = promise;
    chat.send("two");
    await settle();
    chat.handleEvent({ type: "reset" });
    clock.pass(200);
    await settle();
    expect(chat.pending.map(({ content }) => textOf(content))).toEqual(["two"]);
    server.gate = null;
    come();
    await settle();
    expect(chat.pending.map(({ content }) => textOf(content))).toEqual(["two"]);
  });

  it("is not taken back when it did not wait after all", async () => {
    chat.send("one");
    await settle();
    const { promise, come } = later();
    server.gate = promise;
    chat.send("two");
    await settle();
    const taking = chat.withdraw(chat.pending[0]!, true);
    server.end();
    server.gate = null;
    come();
    await taking;
    expect(draft.text).toBe("");
  });
});

describe("tools", () => {
  it("shows calls, questions and results as they come, as one reply", async () => {
    chat.send("weather?");
    await settle();
    const call = { id: "k", name: "weather", arguments: "{}" };
    Object.assign(server.row, { status: "done", finish: "tool_calls", tool_calls: [call] });
    const toolRow = { id: "t", parent: server.row.id, role: "tool", run: server.run, tool_call_id: "k", call: { name: "weather", state: "waiting" } } as const;
    server.emit(
      { type: "delta", message: server.row.id, kind: "tool_call", id: "k", name: "weather", text: "{}" },
      { type: "message_done", message: { ...server.row } },
      { type: "message_added", message: server.add(toolRow) },
      { type: "approval_asked", approval: { id: "t", run: server.run, conversation: chat.id!, tool: "weather", server: "skies" } },
    );
    await drawn();
    expect(chat.reply.approvals).toHaveLength(1);
    clock.draw();
    expect(announcer.sentence).toContain("weather needs your approval");
    expect(await chat.answerApproval(chat.reply.approvals[0]!, { decision: "once" })).toBe("");
    expect(server.last("approvals/t")).toEqual({ decision: "once" });
    expect(chat.reply.approvals).toEqual([]);
    server.emit({ type: "approval_answered", id: "t", decision: "once" }, { type: "tool_started", message: "t" });
    await drawn();
    expect(rows()[2]!.message.call?.state).toBe("running");
    server.emit({ type: "tool_result", message: { ...toolRow, content: [{ type: "text", text: "rain" }], call: { name: "weather", state: "done" } } });
    server.emit({ type: "message_added", message: server.add({ id: "a2", parent: "t", role: "assistant", status: "running", run: server.run }) });
    server.write("It rains.");
    server.end();
    await drawn();
    expect(chat.shown.map(({ kind }) => kind)).toEqual(["user", "reply"]);
    expect(texts()).toEqual(["weather?", "", "rain", "It rains."]);
  });
});

describe("coming back", () => {
  const past = () => [
    { id: "u", parent: null, role: "user", content: [{ type: "text", text: "one" }] } as const,
    { id: "a", parent: "u", role: "assistant", content: [{ type: "text", text: "1" }] } as const,
  ];

  it("opens a conversation by its address, and says when there is none", async () => {
    server.conversation("c", past(), "Numbers");
    await open("c");
    expect(texts()).toEqual(["one", "1"]);
    expect(chat.title).toBe("Numbers");
    await open("x");
    expect(texts()).toEqual([]);
    expect(chat.problem).toContain("not found");
  });

  it("leaves what is shown until the other one is here, and drops a late answer", async () => {
    server.conversation("c", past());
    server.conversation("d", []);
    await open("c");
    const first = open("d");
    expect(texts()).toEqual(["one", "1"]);
    const second = open("c");
    await Promise.all([first, second]);
    expect(chat.id).toBe("c");
  });

  it("follows a running reply from its present state without flicker", async () => {
    await open(null);
    chat.send("one");
    await settle();
    server.write("half ");
    await drawn();
    const other = (chat = page());
    await open(server.latest.conversation.id);
    expect(other.running).toBe(true);
    expect(texts()).toEqual(["one", "half "]);
    await drawn();
    expect(texts()).toEqual(["one", "half "]);
    server.write("a reply");
    await drawn();
    expect(texts()).toEqual(["one", "half a reply"]);
    server.end();
    await drawn();
    expect(other.running).toBe(false);
  });

  it("shows two tabs the same", async () => {
    const mine = chat;
    await told("one", "1");
    const other = (chat = page());
    await open(mine.id);
    mine.send("two");
    await settle();
    other.handleEvent({ type: "run", conversation: mine.id!, run: server.run });
    clock.pass(200);
    await settle();
    server.write("2");
    await drawn();
    expect(texts()).toEqual(["one", "1", "two", "2"]);
  });

  it("reads again what was changed elsewhere, and not what was changed here", async () => {
    server.conversation("c", past());
    await open("c");
    const reads = () => server.requests.filter(({ address, method }) => method === "GET" && address.startsWith("api/conversations/c?")).length;
    Object.assign(server.latest.messages[1]!, { content: [{ type: "text", text: "uno" }] });
    clock.pass(2000);
    chat.handleEvent({ type: "changed", conversation: "c" });
    clock.pass(200);
    await settle();
    expect(texts()).toEqual(["one", "uno"]);
    const before = reads();
    await chat.rewrite(said(1), "dos");
    chat.handleEvent({ type: "changed", conversation: "c" });
    clock.pass(200);
    await settle();
    expect(reads()).toBe(before);
  });

  it("shows the branch of a message that was looked for", async () => {
    server.conversation("c", [...past(), { id: "b", parent: "u", role: "assistant", content: [{ type: "text", text: "uno" }] }]);
    await open("c", "a");
    expect(texts()).toEqual(["one", "1"]);
    expect(chat.highlighted).toBe("a");
  });

  it("asks once more when the server is back", async () => {
    server.conversation("c", past());
    server.unreachable = true;
    await open("c");
    expect(chat.problem).toContain("isn’t responding");
    server.unreachable = false;
    chat.resume();
    await settle();
    expect(texts()).toEqual(["one", "1"]);
    expect(chat.problem).toBe("");
  });

  it("keeps a draft for each conversation", async () => {
    server.conversation("c", past());
    draft.text = "new";
    await open("c");
    expect(draft.text).toBe("");
    draft.text = "old";
    await open(null);
    expect(draft.text).toBe("new");
    await open("c");
    expect(draft.text).toBe("old");
  });

  it("opens a new chat and leaves the running reply to the server", async () => {
    chat.send("one");
    await settle();
    const { id } = chat;
    chat.startNew();
    expect(texts()).toEqual([]);
    expect([chat.running, chat.previous, went.at(-1)]).toEqual([false, id, null]);
    expect(server.commands().some((command) => command.endsWith("stop"))).toBe(false);
    server.write("1");
    server.end();
    await open(id);
    expect(texts()).toEqual(["one", "1"]);
  });

  it("is the same page before and after it has an id, and another after turning away", async () => {
    const { page } = chat;
    chat.send("one");
    const both = await Promise.all([chat.ensureConversation(), chat.ensureConversation()]);
    expect(both.map((answer) => answer.kind === "ok" && answer.value)).toEqual([chat.id, chat.id]);
    await open(chat.id);
    expect(chat.page).toBe(page);
    chat.startNew();
    expect(chat.page).not.toBe(page);
  });

  it("starts a temporary one on request, and a normal one next", async () => {
    chat.startNew({ temporary: true });
    await open(null);
    expect(chat.temporary).toBe(true);
    chat.send("one");
    await settle();
    expect(server.last("api/conversations")).toMatchObject({ temporary: true });
    expect([chat.temporary, loaded]).toEqual([true, [chat.id]]);
    await open(null);
    expect(chat.temporary).toBe(false);
    chat.startNew({ folder: "f" });
    chat.send("two");
    await settle();
    expect(server.last("api/conversations")).toMatchObject({ folder: "f" });
    expect(server.last("api/conversations")).not.toHaveProperty("temporary");
  });

  it("goes away with the conversation that was deleted elsewhere", async () => {
    server.conversation("c", past());
    await open("c");
    chat.handleEvent({ type: "removed", conversation: "c" });
    expect([chat.id, chat.previous, texts()]).toEqual([null, null, []]);
  });
});

describe("the conversation as a whole", () => {
  const past = () => [
    { id: "u", parent: null, role: "user", content: [{ type: "text", text: "one" }] } as const,
    { id: "a", parent: "u", role: "assistant", content: [{ type: "text", text: "1" }] } as const,
  ];

  it("begins with the instructions that were written for it", async () => {
    expect(chat.modelContext.instructions).toBe("");
    expect(await chat.modelContext.setInstructions("Be brief.")).toBe("");
    expect(chat.modelContext.instructions).toBe("Be brief.");
    chat.send("one");
    await settle();
    expect(server.requests.find(({ address, method }) => method === "POST" && address === "api/conversations")?.body.system).toBe("Be brief.");
    await drawn();
    expect(chat.shown.map(({ kind }) => kind)).toEqual(["system", "user", "reply"]);
    expect(chat.modelContext.instructions).toBe("Be brief.");
    chat.startNew();
    expect(chat.modelContext.instructions).toBe("");
  });

  it("gets instructions, other ones, and none", async () => {
    server.conversation("c", past());
    await open("c");
    await chat.modelContext.setInstructions("Be brief.");
    expect([chat.modelContext.instructions, ...texts()]).toEqual(["Be brief.", "Be brief.", "one", "1"]);
    await chat.modelContext.removeInstructions();
    expect([chat.modelContext.instructions, ...texts()]).toEqual(["", "one", "1"]);
    notices.current?.action?.run();
    await settle();
    expect(chat.modelContext.instructions).toBe("Be brief.");
  });

  it("says why instructions were not kept", async () => {
    server.conversation("c", past());
    await open("c");
    server.refusal = { status: 409, code: "run_in_progress", message: "A reply is being written." };
    expect(await chat.modelContext.setInstructions("Be brief.")).toBe("A reply is being written.");
    expect(chat.modelContext.instructions).toBe("");
  });

  it("is copied up to a message, and the copy is where one is then", async () => {
    server.conversation("c", past());
    await open("c");
    await chat.fork("u");
    expect(server.last("/fork")).toMatchObject({ message: "u" });
    expect(went.at(-1)).toBe(server.last("/fork").id);
    notices.current?.action?.run();
    expect(went.at(-1)).toBe("c");
  });

  it("tells how full the context is after what changed, with the branch that is shown", async () => {
    server.conversation("c", past());
    await open("c");
    clock.pass(500);
    await settle();
    expect(server.requests.at(-1)?.address).toBe("api/conversations/c/context?leaf=a");
    expect(chat.modelContext.usage.share).toBe(0.2);
    await told("two", "2");
    clock.pass(500);
    await settle();
    expect(chat.modelContext.usage.share).toBe(0.4);
    chat.startNew();
    expect(chat.modelContext.usage.fill).toBeNull();
  });

  it("is compacted on request, and restored by deleting the summary", async () => {
    server.conversation("c", past());
    await open("c");
    const summed = chat.modelContext.compact();
    expect(chat.modelContext.compacting).toBe(true);
    await summed;
    expect(chat.modelContext.compacting).toBe(false);
    expect(chat.shown.map(({ kind }) => kind)).toEqual(["user", "summary", "reply"]);
    notices.current?.action?.run();
    await settle();
    expect(server.commands().at(-1)).toMatch(/^DELETE .*messages/);
    server.refusal = { status: 400, code: "nothing_to_fold", message: "There is nothing to fold yet." };
    await chat.modelContext.compact();
    expect(notices.current?.text).toBe("There is nothing to fold yet.");
  });

  it("asks another model for another reply", async () => {
    await told("one", "1");
    chat.regenerate(lastReply(), "other");
    expect(lastMessage().model).toBe("other");
    await settle();
    expect(server.last("/runs")).toMatchObject({ verb: "regenerate", options: { model: "other", thinking: true } });
  });

  it("answers what was left without an answer", async () => {
    server.conversation("c", past().slice(0, 1));
    await open("c");
    chat.generateReply(said(0));
    await settle();
    expect(server.last("/runs")).toMatchObject({ verb: "regenerate", message: "u" });
    server.write("1");
    server.end();
    await drawn();
    expect(texts()).toEqual(["one", "1"]);
  });

  it("does not delete an earlier empty reply on regenerating, since messages depend on it", async () => {
    server.conversation("c", [
      past()[0]!,
      { id: "a", parent: "u", role: "assistant", status: "failed" },
      { id: "v", parent: "a", role: "user", content: [{ type: "text", text: "two" }] },
      { id: "b", parent: "v", role: "assistant", content: [{ type: "text", text: "2" }] },
    ]);
    await open("c");
    chat.regenerate(chat.shown[1] as ReplyTurn);
    await settle();
    expect(server.commands().some((command) => command.startsWith("DELETE"))).toBe(false);
    expect(server.last("/runs")).toMatchObject({ verb: "regenerate", message: "a" });
  });

  it("is redrawn only where it changed: a growing reply keeps every row", async () => {
    await told("one", "1");
    chat.send("two");
    await settle();
    server.write("a");
    await drawn();
    const before = rows();
    for (const text of ["b", "c"]) {
      server.write(text);
      await drawn();
    }
    expect(texts().at(-1)).toBe("abc");
    expect(rows().every((row, place) => row === before[place])).toBe(true);
  });
});


/** A promise and its resolver. */
function later(): { readonly promise: Promise<void>; readonly come: () => void } {
  let come = () => {};
  const promise = new Promise<void>((resolve) => (come = resolve));
  return { promise, come };
}

describe("late answers", () => {
  it("takes nothing away that was said while the conversation was read", async () => {
    await told("one", "1");
    clock.pass(5000);
    const { promise, come } = later();
    server.readDelay = promise;
    chat.handleEvent({ type: "changed", conversation: chat.id! });
    clock.pass(200);
    await settle();
    chat.send("two");
    await drawn();
    come();
    server.readDelay = null;
    await drawn();
    expect(texts()).toEqual(["one", "1", "two", ""]);
    expect(chat.running).toBe(true);
  });

  it("brings nothing back that was deleted while the conversation was read", async () => {
    await told("one", "1");
    await told("two", "2");
    clock.pass(5000);
    const { promise, come } = later();
    server.readDelay = promise;
    chat.handleEvent({ type: "changed", conversation: chat.id! });
    clock.pass(200);
    await settle();
    await chat.remove(said(2));
    come();
    server.readDelay = null;
    await settle();
    clock.pass(200);
    await settle();
    expect(texts()).toEqual(["one", "1"]);
  });

  it("keeps another screen open when the conversation is deleted elsewhere", async () => {
    await told("one", "1");
    chat.handleEvent({ type: "removed", conversation: chat.id! });
    expect(went.at(-1)).toBe("null, if the chat is in sight");
    chat.startNew();
    expect(went.at(-1)).toBe(null);
  });
});

describe("what could not be sent", () => {
  it("makes its conversation once, however often it is tried", async () => {
    server.unreachable = true;
    chat.send("one");
    await settle();
    chat.regenerate(lastReply());
    await settle();
    const made = server.requests.filter(({ address, method }) => method === "POST" && address === "api/conversations").map(({ body }) => body.id);
    expect(made).toHaveLength(2);
    expect(new Set(made).size).toBe(1);
    chat.startNew();
    chat.send("two");
    await settle();
    expect(made).not.toContain(server.requests.findLast(({ address }) => address === "api/conversations")!.body.id);
  });

  it("waits in a new chat that is being made, or goes back to where it was said", async () => {
    chat.send("one");
    chat.send("two");
    await settle();
    expect(chat.pending.map(({ content }) => content)).toEqual([[{ type: "text", text: "two" }]]);
    const made = server.requests.filter(({ address, method }) => method === "POST" && address === "api/conversations").map(({ body }) => body.id);
    expect(new Set(made)).toEqual(new Set([chat.id]));
    chat.startNew();
    server.unreachable = true;
    chat.send("three");
    chat.send("four");
    await settle();
    expect(chat.pending).toEqual([]);
    expect(draft.text).toBe("four");
    expect(texts()).toEqual(["three", ""]);
  });

  it("is put before what is being typed when it cannot wait for a reply", async () => {
    chat.send("one");
    await settle();
    server.refusal = { status: 503, code: "full", message: "Too many wait." };
    chat.send("two");
    draft.text = "three";
    await settle();
    expect(chat.pending).toEqual([]);
    expect(draft.text).toBe("two\n\nthree");
    expect(notices.current?.text).toBe("Too many wait.");
  });

  it("goes back to its own conversation, whichever is looked at by then", async () => {
    server.conversation("other", []);
    chat.send("one");
    await settle();
    const { id } = chat;
    server.refusal = { status: 503, code: "full", message: "Too many wait." };
    chat.send("two");
    draft.switchTo("other");
    await settle();
    expect(draft.text).toBe("");
    draft.switchTo(id);
    expect(draft.text).toBe("two");
  });

  it("is taken back before what is being typed, and takes nothing of it", async () => {
    chat.send("one");
    await settle();
    chat.send("two");
    await settle();
    draft.text = "three";
    await chat.withdraw(chat.pending[0]!, true);
    expect(draft.text).toBe("two\n\nthree");
  });

  it("is not lost when another conversation is looked at: something else was being typed where it belongs", async () => {
    await told("one", "1");
    const { id } = chat;
    server.conversation("other", []);
    server.unreachable = true;
    chat.send("two");
    draft.text = "three";
    await settle();
    expect([draft.text, texts().at(-2)]).toEqual(["three", "two"]);
    server.unreachable = false;
    await open("other");
    expect(draft.text).toBe("");
    await open(id);
    expect(draft.text).toBe("two\n\nthree");
  });

  it("is not lost when another conversation is looked at before it failed", async () => {
    await told("one", "1");
    const { id } = chat;
    const { promise, come } = later();
    server.gate = promise.then(() => Promise.reject(new TypeError("failed to fetch")));
    server.gate.catch(() => {});
    chat.send("two");
    await settle();
    await open(null);
    come();
    await settle();
    server.gate = null;
    expect(draft.text).toBe("");
    await open(id);
    expect(draft.text).toBe("two");
  });

  it("outlives the page, before the server has answered and after it did not", async () => {
    await told("one", "1");
    server.unreachable = true;
    chat.send("two");
    chat.saveUnsent();
    expect(new Draft(storage).text).toBe("");
    expect(draft.text).toBe("two");
  });
});

describe("the announcement of a reply", () => {
  const announced = () => (chat.send("hello"), clock.draw(), announcer.sentence);

  it("names the model, and says so where there is none", () => {
    expect(announced()).toBe("mini is answering.");
    speaker = "";
    chat = page();
    expect(announced()).toBe("The model is answering.");
  });

  it("says that the model is being loaded", async () => {
    chat.send("hello");
    await settle();
    server.emit({ type: "progress", waiting: "load", model: "big", loaded: 0.5 });
    await settle();
    clock.draw();
    clock.draw();
    expect(announcer.sentence).toBe("Loading big…");
    expect(chat.reply.progress).toMatchObject({ stage: "loading", update: { loaded: 0.5 } });
  });
});

describe("summing up", () => {
  it("is of one conversation: another that is looked at meanwhile is not said to be", async () => {
    await told("one", "1");
    server.conversation("other", []);
    const { id } = chat;
    const { promise, come } = later();
    server.before = async (method) => void (method === "POST" && (await promise));
    const done = chat.modelContext.compact();
    expect(chat.modelContext.compacting).toBe(true);
    await open("other");
    expect(chat.modelContext.compacting).toBe(false);
    await open(id);
    expect(chat.modelContext.compacting).toBe(true);
    come();
    await done;
    expect(chat.modelContext.compacting).toBe(false);
  });
});
