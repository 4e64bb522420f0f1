import { beforeEach, describe, expect, it } from "vitest";

import type { ServerMessage } from "../../src/wire/chat";
import { ChatSocket, type Listener } from "../../src/wire/socket";
import { FakeNetwork } from "../sockets";

function asking(id: string) {
  return { id, messages: [{ role: "user" as const, content: id }], streaming: true as const, progress: true as const };
}

class Heard implements Listener {
  readonly messages: ServerMessage[] = [];
  readonly losses: { reached: boolean; reason: string }[] = [];
  message = (message: ServerMessage) => void this.messages.push(message);
  lost = (reached: boolean, reason: string) => void this.losses.push({ reached, reason });
}

let network: FakeNetwork;
let socket: ChatSocket;
let heard: Heard;

beforeEach(() => {
  network = new FakeNetwork();
  socket = new ChatSocket(network.open);
  heard = new Heard();
});

function firstRequestServed(): void {
  socket.send(asking("r1"), new Heard());
  network.last.opens();
  network.last.says({ type: "done", id: "r1" });
}

describe("the kept socket", () => {
  it("opens with the first request and sends it once it is open", () => {
    socket.send(asking("r1"), heard);
    expect(network.last.sent).toEqual([]);
    network.last.opens();
    expect(network.last.sent).toEqual([asking("r1")]);
  });

  it("serves many requests after each other", () => {
    firstRequestServed();
    socket.send(asking("r2"), heard);
    network.last.says({ type: "chunk", id: "r2", text_delta: "a" });
    network.last.says({ type: "done", id: "r2" });
    expect(network.sockets).toHaveLength(1);
    expect(heard.messages.map(({ type }) => type)).toEqual(["chunk", "done"]);
    expect(socket.busy).toBe(false);
  });

  it("refuses a second request while one runs", () => {
    socket.send(asking("r1"), heard);
    expect(() => socket.send(asking("r2"), heard)).toThrow();
  });

  it("opens another one in silence when the old one was closed between requests", () => {
    firstRequestServed();
    network.last.dies();
    socket.send(asking("r2"), heard);
    network.last.opens();
    expect(network.sockets).toHaveLength(2);
    expect(network.last.sent).toEqual([asking("r2")]);
    expect(heard.losses).toEqual([]);
  });

  it("asks again, once, when a reused socket turns out to be dead", () => {
    firstRequestServed();
    socket.send(asking("r2"), heard);
    network.last.dies();
    expect(network.sockets).toHaveLength(2);
    network.last.opens();
    expect(network.last.sent).toEqual([asking("r2")]);
    network.last.dies();
    expect(network.sockets).toHaveLength(2);
    expect(heard.losses).toEqual([{ reached: true, reason: "" }]);
  });

  it("does not ask again once the server began to answer", () => {
    firstRequestServed();
    socket.send(asking("r2"), heard);
    network.last.says({ type: "chunk", id: "r2", text_delta: "a" });
    network.last.dies("going down");
    expect(network.sockets).toHaveLength(1);
    expect(heard.losses).toEqual([{ reached: true, reason: "going down" }]);
  });

  it("tells that nobody was reached when it never opened", () => {
    socket.send(asking("r1"), heard);
    network.last.dies();
    expect(heard.losses).toEqual([{ reached: false, reason: "" }]);
    expect(socket.busy).toBe(false);
  });

  it("drops what belongs to another request, and what it does not know", () => {
    socket.send(asking("r1"), heard);
    network.last.opens();
    network.last.says({ type: "chunk", id: "r0", text_delta: "stale" });
    network.last.says({ type: "status", state: "listening" });
    network.last.onmessage?.({ data: new ArrayBuffer(2) });
    network.last.onmessage?.({ data: "not json" });
    network.last.says({ type: "chunk", text_delta: "without an id" });
    expect(heard.messages).toEqual([{ type: "chunk", text_delta: "without an id" }]);
  });

  it("cancels over the wire when open", () => {
    socket.send(asking("r1"), heard);
    network.last.opens();
    socket.cancel();
    expect(network.last.sent.at(-1)).toEqual({ type: "cancel", id: "r1" });
    expect(socket.busy).toBe(true);
  });

  it("cancels while still connecting by letting go, and closes the socket once it has opened", () => {
    socket.send(asking("r1"), heard);
    socket.cancel();
    expect(network.last.readyState).toBe(0);
    network.last.opens();
    expect(network.last.readyState).toBe(3);
    expect(network.last.sent).toEqual([]);
    expect(socket.busy).toBe(false);
  });

  it("hears nothing more of what it abandoned", () => {
    socket.send(asking("r1"), heard);
    const old = network.last;
    old.opens();
    socket.abandon();
    old.says({ type: "chunk", id: "r1", text_delta: "late" });
    old.dies();
    expect(heard.messages).toEqual([]);
    expect(heard.losses).toEqual([]);
  });
});
