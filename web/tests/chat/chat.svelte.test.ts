import { beforeEach, describe, expect, it } from "vitest";

import { Announcer } from "../../src/chat/announcer.svelte";
import { Chat } from "../../src/chat/chat.svelte";
import { Draft } from "../../src/chat/draft.svelte";
import { ShelfStore } from "../../src/chat/store";
import type { AssistantTurn, UserTurn } from "../../src/chat/turn.svelte";
import { MemoryShelf } from "../../src/settings/shelf";
import { ChatSocket } from "../../src/wire/socket";
import { FakeClock } from "../clock";
import { FakeNetwork, type FakeSocket } from "../sockets";

let clock: FakeClock;
let network: FakeNetwork;
let shelf: MemoryShelf;
let draft: Draft;
let announcer: Announcer;
let troubles: number;
let chat: Chat;

function page(): Chat {
  draft = new Draft(shelf);
  announcer = new Announcer(clock);
  return new Chat({
    socket: new ChatSocket(network.open),
    clock,
    draft,
    store: new ShelfStore(shelf),
    announcer,
    options: () => ({ speaker: "mini", enable_thinking: true }),
    trouble: () => void troubles++,
  });
}

beforeEach(() => {
  clock = new FakeClock();
  network = new FakeNetwork();
  shelf = new MemoryShelf();
  troubles = 0;
  chat = page();
});

function server(): FakeSocket {
  if (network.last.readyState === 0) network.last.opens();
  return network.last;
}

function lastReply(): AssistantTurn {
  return chat.shown.at(-1) as AssistantTurn;
}

function writes(text: string): void {
  server().says({ type: "chunk", id: lastReply().id, text_delta: text });
  clock.draw();
}

function ends(more: object = {}): void {
  server().says({ type: "done", id: lastReply().id, finish_reason: "stop", ...more });
}

function fails(message = "The worker ended."): void {
  server().says({ type: "error", id: lastReply().id, code: "worker_lost", message });
}

function told(question: string, answer: string): void {
  chat.send(question);
  writes(answer);
  ends();
}

const texts = () => chat.shown.map((turn) => turn.text);
const asked = () => server().sent.at(-1);

describe("sending", () => {
  it("shows the message at once and asks with everything said so far", () => {
    told("one", "1");
    chat.send("two");
    server();
    expect(texts()).toEqual(["one", "1", "two", ""]);
    expect(asked()).toMatchObject({
      id: lastReply().id,
      streaming: true,
      progress: true,
      enable_thinking: true,
      messages: [
        { role: "user", content: "one" },
        { role: "assistant", content: "1" },
        { role: "user", content: "two" },
      ],
    });
    expect(asked()).not.toHaveProperty("speaker");
  });

  it("sends nothing that is empty, and nothing while a reply runs", () => {
    expect(chat.send("  \n")).toBe(false);
    expect(chat.send("one")).toBe(true);
    expect(chat.send("two")).toBe(false);
    expect(texts()).toEqual(["one", ""]);
  });

  it("draws a fast reply once a frame", () => {
    chat.send("one");
    for (const text of ["a", "b", "c"]) server().says({ type: "chunk", id: lastReply().id, text_delta: text });
    expect(lastReply().reply.text).toBe("");
    clock.draw();
    expect(lastReply().reply.text).toBe("abc");
  });

  it("draws the end at once, also where no frame comes", () => {
    chat.send("one");
    server().says({ type: "chunk", id: lastReply().id, text_delta: "abc" });
    ends();
    expect(lastReply().reply).toMatchObject({ stage: "ended", text: "abc" });
    expect(chat.running).toBeNull();
  });
});

describe("stopping", () => {
  it("keeps what was said", () => {
    chat.send("one");
    writes("half a");
    chat.stop();
    expect(chat.stopping).toBe(true);
    expect(asked()).toEqual({ type: "cancel", id: lastReply().id });
    ends({ finish_reason: "cancelled", text: "half a" });
    expect(lastReply().reply).toMatchObject({ stage: "ended", text: "half a", finish: "cancelled" });
    expect(chat.stopping).toBe(false);
    expect(draft.text).toBe("");
  });

  it("does not wait for ever for the server's word", () => {
    chat.send("one");
    writes("half");
    chat.stop();
    clock.pass(1999);
    expect(chat.running).not.toBeNull();
    clock.pass(1);
    expect(lastReply().reply).toMatchObject({ finish: "cancelled", text: "half" });
    chat.send("two");
    expect(network.sockets).toHaveLength(2);
  });

  it("leaves a later reply alone when the patience with an earlier one runs out", () => {
    chat.send("one");
    writes("a");
    chat.stop();
    ends({ finish_reason: "cancelled" });
    chat.send("two");
    clock.pass(5000);
    expect(chat.running).toBe(lastReply());
  });

  it("gives the words back when nothing was answered yet, and sends them once", () => {
    chat.send("one");
    chat.stop();
    expect(draft.text).toBe("one");
    chat.send("one, better");
    expect(texts()).toEqual(["one, better", ""]);
  });
});

describe("failing", () => {
  it("keeps the partial reply and tells of trouble", () => {
    chat.send("one");
    writes("half");
    fails();
    expect(lastReply().reply).toMatchObject({ stage: "failed", text: "half", failure: { message: "The worker ended." } });
    expect(troubles).toBe(1);
    expect(draft.text).toBe("");
  });

  it("puts the text back into the empty composer when there was no answer at all", () => {
    chat.send("one");
    fails();
    expect(draft.text).toBe("one");
  });

  it("leaves alone what is being typed", () => {
    chat.send("one");
    draft.text = "next thought";
    fails();
    expect(draft.text).toBe("next thought");
  });

  it("asks again on retry, without the failed reply, and takes the text back", () => {
    chat.send("one");
    fails();
    chat.again(lastReply());
    expect(draft.text).toBe("");
    expect(chat.versions(lastReply())).toHaveLength(1);
    expect(asked().messages).toEqual([{ role: "user", content: "one" }]);
  });

  it("keeps a partial reply as a version on retry", () => {
    chat.send("one");
    writes("half");
    fails();
    chat.again(lastReply());
    expect(chat.versions(lastReply()).map((turn) => turn.text)).toEqual(["half", ""]);
  });

  it("tells a connection lost in the middle from a server never reached", () => {
    chat.send("one");
    network.last.dies();
    expect(lastReply().reply.failure?.code).toBe("unreachable");
    chat.send("one");
    writes("a");
    network.last.dies();
    expect(lastReply().reply).toMatchObject({ text: "a", failure: { code: "connection_lost" } });
  });
});

describe("asking again and editing", () => {
  it("keeps the replaced reply reachable", () => {
    told("one", "1");
    chat.again(lastReply());
    writes("uno");
    ends();
    const [first, second] = chat.versions(lastReply());
    expect([first?.text, second?.text]).toEqual(["1", "uno"]);
    chat.show(first!);
    expect(texts()).toEqual(["one", "1"]);
  });

  it("answers an edited message anew and keeps the old branch", () => {
    told("one", "1");
    told("two", "2");
    chat.edit(chat.shown[0] as UserTurn, "ONE");
    expect(asked().messages).toEqual([{ role: "user", content: "ONE" }]);
    writes("I");
    ends();
    expect(texts()).toEqual(["ONE", "I"]);
    chat.show(chat.versions(chat.shown[0]!)[0]!);
    expect(texts()).toEqual(["one", "1", "two", "2"]);
  });
});

describe("a reload", () => {
  it("brings the conversation and the draft back", () => {
    told("one", "1");
    chat.again(lastReply());
    writes("uno");
    ends();
    draft.text = "two, perh";
    chat = page();
    expect(texts()).toEqual(["one", "uno"]);
    expect(chat.versions(lastReply())).toHaveLength(2);
    expect(draft.text).toBe("two, perh");
  });

  it("keeps the words of a reply it interrupted, and says so", () => {
    chat.send("one");
    writes("half");
    clock.pass(500);
    chat = page();
    expect(lastReply().reply).toMatchObject({ stage: "failed", text: "half", failure: { code: "interrupted" } });
  });

  it("begins empty on what it cannot read", () => {
    shelf.put("duologue.conversation", '{"version":99,"turns":[]}');
    expect(page().shown).toEqual([]);
    shelf.put("duologue.conversation", "{");
    expect(page().shown).toEqual([]);
  });
});

describe("a new chat", () => {
  it("is empty, and the one before can be brought back", () => {
    told("one", "1");
    chat.startAnew();
    expect(texts()).toEqual([]);
    expect(chat.hasPrevious).toBe(true);
    chat.goBack();
    expect(texts()).toEqual(["one", "1"]);
    expect(chat.hasPrevious).toBe(false);
  });

  it("ends a running reply", () => {
    chat.send("one");
    server();
    chat.startAnew();
    expect(chat.running).toBeNull();
    expect(network.last.readyState).toBe(3);
    expect(draft.text).toBe("");
  });
});

describe("what a screen reader is told", () => {
  it("is the beginning and the end, never a piece", () => {
    const said: string[] = [];
    const listen = () => {
      clock.draw();
      if (said.at(-1) !== announcer.sentence) said.push(announcer.sentence);
    };
    chat.send("one");
    listen();
    for (const piece of ["**Hel", "lo**", " there"]) {
      writes(piece);
      listen();
    }
    ends();
    listen();
    expect(said).toEqual(["mini is answering.", "mini: Hello there"]);
  });
});
