import { describe, expect, it } from "vitest";

import { lineTo, voiceAddress } from "../../../src/voice/call/line";

describe("the address of the line", () => {
  it("is beside the page, with its security and under its path", () => {
    expect(voiceAddress("http://127.0.0.1:8006/#/c/1")).toBe("ws://127.0.0.1:8006/ws/voice");
    expect(voiceAddress("https://example.org/talk/?x=1")).toBe("wss://example.org/talk/ws/voice");
  });
});

function dialled() {
  const sent: unknown[] = [];
  const socket: any = { readyState: 0, OPEN: 1, bufferedAmount: 0, send: (data: unknown) => sent.push(data), close: () => socket.onclose({ code: 1000, reason: "" }) };
  const said: string[] = [];
  const line = lineTo(() => socket)({
    opened: () => said.push("opened"),
    said: (text) => said.push(text),
    sounded: (pcm) => said.push(`sound ${pcm.join()}`),
    closed: (code, reason) => said.push(`closed ${code} ${reason}`),
  });
  return { socket, sent, said, line };
}

describe("a line", () => {
  it("carries texts and samples both ways once it is open", () => {
    const { socket, sent, said, line } = dialled();
    line.say("too early");
    socket.readyState = 1;
    socket.onopen();
    line.say("hello");
    line.sound(Int16Array.of(1, 2));
    socket.onmessage({ data: "text" });
    socket.onmessage({ data: Int16Array.of(5, -6).buffer });
    socket.onmessage({ data: Uint8Array.of(7, 0, 9).buffer });
    expect(sent[0]).toBe("hello");
    expect(new Int16Array(sent[1] as ArrayBuffer)).toEqual(Int16Array.of(1, 2));
    expect(said).toEqual(["opened", "text", "sound 5,-6", "sound 7"]);
  });

  it("drops sound that a slow network has no place for, and no message", () => {
    const { socket, sent, line } = dialled();
    socket.readyState = 1;
    socket.bufferedAmount = 100_000;
    line.sound(Int16Array.of(1));
    line.say("still");
    expect(sent).toEqual(["still"]);
  });

  it("says once that it broke, and nothing of being closed from here", () => {
    const broken = dialled();
    broken.socket.onclose({ code: 1006, reason: "x" });
    broken.socket.onclose({ code: 1006, reason: "x" });
    expect(broken.said).toEqual(["closed 1006 x"]);
    const closed = dialled();
    closed.line.close();
    expect(closed.said).toEqual([]);
  });
});
