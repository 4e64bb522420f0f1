import { beforeEach, describe, expect, it } from "vitest";

import { EventStream, SseParser } from "../../../src/wire/transport/event_stream";
import { FakeClock } from "../../clock";
import { settle } from "../../server";

describe("the lines of a stream", () => {
  it("are the same events wherever they are cut", () => {
    const stream = 'id: 1\ndata: {"a":1}\n\n: alive\n\nid: 2\r\ndata: two\r\ndata: lines\r\n\r\nretry: 5\nid: 3\ndata:x\n\n';
    for (let cut = 0; cut <= stream.length; cut++) {
      const parser = new SseParser();
      expect([...parser.feed(stream.slice(0, cut)), ...parser.feed(stream.slice(cut))]).toEqual(['{"a":1}', "two\nlines", "x"]);
      expect(parser.last).toBe("3");
    }
  });

  it("tell a position without an event, and keep it through silence", () => {
    const parser = new SseParser("4");
    expect(parser.feed(": alive\n\n")).toEqual([]);
    expect(parser.last).toBe("4");
    expect(parser.feed("id: 9\n\n")).toEqual([]);
    expect(parser.last).toBe("9");
  });
});

interface Line {
  headers: Record<string, string>;
  send(text: string): void;
  end(): void;
  breaks(): void;
  closed(): boolean;
}

let clock: FakeClock;
let lines: Line[];
let status: number | "nobody";
let heard: string[];
let stream: EventStream;

beforeEach(() => {
  clock = new FakeClock();
  lines = [];
  status = 200;
  heard = [];
  stream = new EventStream(
    async (_, init) => {
      if (status === "nobody") throw new TypeError("failed to fetch");
      if (status !== 200) return new Response('{"error":{"message":"A key is needed."}}', { status });
      let controller!: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
      const { signal } = init!;
      signal!.addEventListener("abort", () => controller.error(new DOMException("aborted", "AbortError")));
      lines.push({
        headers: init!.headers as Record<string, string>,
        send: (text) => controller.enqueue(new TextEncoder().encode(text)),
        end: () => controller.close(),
        breaks: () => controller.error(new TypeError("network error")),
        closed: () => signal!.aborted,
      });
      return new Response(body);
    },
    clock,
    "api/events",
    {
      event: (data) => void heard.push(data),
      opened: () => void heard.push("opened"),
      lost: () => void heard.push("lost"),
      refused: (code, message) => void heard.push(`${code} ${message}`),
    },
  );
});

async function open(): Promise<Line> {
  stream.resume();
  await settle();
  return lines.at(-1)!;
}

describe("a kept stream", () => {
  it("resumes after the last event id when the connection breaks", async () => {
    const line = await open();
    line.send("id: 7\ndata: a\n\n");
    await settle();
    line.breaks();
    await settle();
    clock.pass(250);
    await settle();
    expect(lines[1]!.headers["Last-Event-ID"]).toBe("7");
    lines[1]!.send("id: 8\ndata: b\n\n");
    await settle();
    expect(heard).toEqual(["opened", "a", "lost", "opened", "b"]);
  });

  it("also when the server merely ended it", async () => {
    (await open()).end();
    await settle();
    clock.pass(250);
    await settle();
    expect(lines).toHaveLength(2);
  });

  it("is tried ever more slowly, and at once when woken", async () => {
    status = "nobody";
    await open();
    const waits = [];
    for (let time = 0; time < 7; time++) {
      const before = clock.time;
      while (heard.length === time + 1) {
        clock.pass(250);
        await settle();
      }
      waits.push(clock.time - before);
    }
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
    status = 200;
    await open();
    expect(heard.at(-1)).toBe("opened");
  });

  it("reconnects after a silence", async () => {
    const line = await open();
    clock.pass(30_000);
    line.send(": alive\n\n");
    await settle();
    clock.pass(39_000);
    await settle();
    expect(line.closed()).toBe(false);
    clock.pass(1000);
    await settle();
    expect(line.closed()).toBe(true);
    clock.pass(250);
    await settle();
    expect(lines).toHaveLength(2);
  });

  it("is not retried after a refusal until resumed", async () => {
    status = 401;
    await open();
    clock.pass(60_000);
    await settle();
    expect(heard).toEqual(["401 A key is needed."]);
    status = 200;
    await open();
    expect(heard.at(-1)).toBe("opened");
  });

  it("sleeps and wakes without missing anything", async () => {
    const line = await open();
    line.send("id: 3\ndata: a\n\n");
    await settle();
    stream.pause();
    await settle();
    clock.pass(60_000);
    await settle();
    expect(lines).toHaveLength(1);
    expect((await open()).headers["Last-Event-ID"]).toBe("3");
    expect(heard).not.toContain("lost");
  });

  it("ends for good", async () => {
    await open();
    stream.close();
    await open();
    clock.pass(60_000);
    expect(lines).toHaveLength(1);
    expect(lines[0]!.closed()).toBe(true);
  });
});
