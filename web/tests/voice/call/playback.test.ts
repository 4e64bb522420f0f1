import { beforeEach, describe, expect, it } from "vitest";

import { Playback } from "../../../src/voice/call/playback";
import type { PlayoutOrder, PlayoutState } from "../../../src/voice/audio/playout";
import type { ClientMessage, ServerMessage } from "../../../src/voice/call/protocol";

let orders: string[];
let told: ClientMessage[];
let playing: Playback;

beforeEach(() => {
  orders = [];
  told = [];
  const play = (order: PlayoutOrder) => void orders.push("reply" in order ? `${order.kind} ${order.reply}` : order.kind);
  playing = new Playback({ play, send: (message) => told.push(message) });
});

const handle = (type: string, reply: number, more: object = {}) => playing.handle({ type, reply, epoch: 0, ...more } as ServerMessage);
const begin = (reply: number, chunk = 0, epoch = 0) => handle("audio_start", reply, { chunk, epoch });
const sound = (samples = 480) => playing.sound(new Int16Array(samples));
const report = (reply: number, samples: number, state: PlayoutState = "playing") => playing.onReport({ reply, samples, state, level: 0 });

describe("sound", () => {
  it("belongs to the reply started last", () => {
    sound();
    begin(1);
    sound();
    handle("audio_end", 1);
    begin(2);
    sound();
    expect(orders).toEqual(["begin 1", "push 1", "end 1", "begin 2", "push 2"]);
  });

  it("is held, resumed and dropped as the server says", () => {
    begin(1);
    handle("pause", 1);
    handle("resume", 1);
    handle("interrupt", 1, { epoch: 1 });
    expect(orders).toEqual(["begin 1", "hold 1", "resume 1", "drop 1"]);
    expect(playing.epoch).toBe(1);
  });

  it("of an interrupted reply that was on its way is not played", () => {
    begin(1);
    sound();
    handle("interrupt", 1, { epoch: 1 });
    sound();
    handle("audio_end", 1, { epoch: 1 });
    begin(2, 5, 1);
    sound();
    expect(orders).toEqual(["begin 1", "push 1", "drop 1", "begin 2", "push 2"]);
  });

  it("of a reply that was given up is not played on", () => {
    begin(1);
    sound();
    handle("reply_done", 1, { ending: "replaced", text: "", unheard: "x" });
    expect(orders.at(-1)).toBe("drop 1");
  });
});

describe("an older epoch", () => {
  it("means nothing any more, but for what was said and heard", () => {
    handle("interrupt", 1, { epoch: 3 });
    begin(2, 0, 2);
    expect(orders).toEqual([]);
    expect(playing.isCurrent({ type: "status", epoch: 2, state: "speaking" })).toBe(false);
    expect(playing.isCurrent({ type: "transcript", epoch: 2, turn: 1, text: "a", final: true, understood: true })).toBe(true);
    expect(playing.isCurrent({ type: "caption", epoch: 3, reply: 1, words: [] })).toBe(false);
    expect(playing.isCurrent({ type: "caption", epoch: 3, reply: 2, words: [] })).toBe(true);
  });
});

describe("marks", () => {
  it("are sent every 200 ms of what is heard, when it is held and at the end", () => {
    begin(1);
    for (let samples = 480; samples <= 12_000; samples += 480) report(1, samples);
    expect(told).toEqual([4800, 9600].map((samples) => ({ type: "played", reply_id: 1, samples })));
    report(1, 12_100, "held");
    report(1, 12_100, "held");
    report(1, 13_000, "ended");
    report(1, 13_000, "ended");
    expect(told.slice(2).map((message) => "samples" in message && message.samples)).toEqual([12_100, 13_000]);
  });

  it("never go back, and say the end also where nothing was heard", () => {
    begin(1);
    report(1, 5000);
    report(1, 4000, "dropped");
    expect(told.at(-1)).toMatchObject({ samples: 5000 });
    begin(2);
    report(2, 0, "dropped");
    expect(told.at(-1)).toEqual({ type: "played", reply_id: 2, samples: 0 });
  });

  it("of an unknown reply are zero", () => {
    report(9, 5000);
    expect(told).toEqual([]);
  });
});

describe("interrupting", () => {
  it("drops the current reply at once, and reports the position and the frame", () => {
    begin(1, 40);
    for (let frame = 0; frame < 5; frame++) sound(480);
    report(1, 960);
    expect(playing.interrupt()).toBe(true);
    expect(told).toEqual([{ type: "interrupt", reply_id: 1, samples: 960, last_chunk_id: 41 }]);
    expect(orders.at(-1)).toBe("drop 1");
    sound();
    expect(orders.at(-1)).toBe("drop 1");
    report(1, 1010, "dropped");
    expect(told.at(-1)).toEqual({ type: "played", reply_id: 1, samples: 1010 });
  });

  it("before the first sample says so", () => {
    begin(1, 7);
    sound();
    playing.interrupt();
    expect(told[0]).toMatchObject({ samples: 0, last_chunk_id: -1 });
  });

  it("a reply without audio yet is left to the server", () => {
    expect(playing.interrupt()).toBe(false);
    expect(told).toEqual([{ type: "interrupt" }]);
  });

  it("does not drop a reply that has ended, and is done once", () => {
    begin(1);
    report(1, 100, "ended");
    begin(2);
    expect(playing.current).toBe(2);
    playing.interrupt();
    report(2, 0, "dropped");
    expect(playing.current).toBe(null);
    expect(orders.filter((order) => order.startsWith("drop"))).toEqual(["drop 2"]);
  });
});

it("restarts numbering on a new connection", () => {
  begin(1);
  playing.isCurrent({ type: "status", epoch: 5, state: "speaking" });
  playing.reset();
  expect(orders.at(-1)).toBe("drop 1");
  expect(playing.epoch).toBe(0);
  begin(1);
  sound();
  expect(orders.slice(-2)).toEqual(["begin 1", "push 1"]);
});
