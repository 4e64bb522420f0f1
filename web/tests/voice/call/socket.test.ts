import { describe, expect, it } from "vitest";

import { socketOpener, voiceAddress } from "../../../src/voice/call/socket";

describe("the address of the line", () => {
  it("is beside the page, with its security and under its path", () => {
    expect(voiceAddress("http://127.0.0.1:8006/#/c/1")).toBe("ws://127.0.0.1:8006/ws/voice");
    expect(voiceAddress("https://example.org/talk/?x=1")).toBe("wss://example.org/talk/ws/voice");
  });
});

function dialled() {
  const sent: unknown[] = [];
  const socket: any = { readyState: 0, OPEN: 1, bufferedAmount: 0, send: (data: unknown) => sent.push(data), close: () => socket.onclose({ code: 1000, reason: "" }) };
  const events: string[] = [];
  const line = socketOpener(() => socket)({
    onOpen: () => events.push("opened"),
    onText: (text) => events.push(text),
    onAudio: (pcm) => events.push(`sound ${pcm.join()}`),
    onClose: (code, reason) => events.push(`closed ${code} ${reason}`),
  });
  return { socket, sent, events, line };
}

describe("a line", () => {
  it("carries texts and samples both ways once it is open", () => {
    const { socket, sent, events, line } = dialled();
    line.sendText("too early");
    socket.readyState = 1;
    socket.onopen();
    line.sendText("hello");
    line.sendAudio(Int16Array.of(1, 2));
    socket.onmessage({ data: "text" });
    socket.onmessage({ data: Int16Array.of(5, -6).buffer });
    socket.onmessage({ data: Uint8Array.of(7, 0, 9).buffer });
    expect(sent[0]).toBe("hello");
    expect(new Int16Array(sent[1] as ArrayBuffer)).toEqual(Int16Array.of(1, 2));
    expect(events).toEqual(["opened", "text", "sound 5,-6", "sound 7"]);
  });

  it("drops sound that a slow network has no place for, and no message", () => {
    const { socket, sent, line } = dialled();
    socket.readyState = 1;
    socket.bufferedAmount = 100_000;
    line.sendAudio(Int16Array.of(1));
    line.sendText("still");
    expect(sent).toEqual(["still"]);
  });

  it("lets sound wait behind a picture rather than drop it", () => {
    const { socket, sent, line } = dialled();
    socket.readyState = 1;
    line.sendPicture("x".repeat(200_000));
    socket.bufferedAmount = 200_000;
    line.sendAudio(Int16Array.of(1));
    socket.bufferedAmount = 270_000;
    line.sendAudio(Int16Array.of(2));
    expect([sent.length, line.buffered]).toEqual([2, 270_000]);
    socket.bufferedAmount = 0;
    line.sendAudio(Int16Array.of(3));
    socket.bufferedAmount = 70_000;
    line.sendAudio(Int16Array.of(4));
    expect(sent.length).toBe(3);
  });

  it("says once that it broke, and nothing of being closed from here", () => {
    const broken = dialled();
    broken.socket.onclose({ code: 1006, reason: "x" });
    broken.socket.onclose({ code: 1006, reason: "x" });
    expect(broken.events).toEqual(["closed 1006 x"]);
    const closed = dialled();
    closed.line.close();
    expect(closed.events).toEqual([]);
  });
});
