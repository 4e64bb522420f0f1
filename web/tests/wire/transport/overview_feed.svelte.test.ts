import { beforeEach, describe, expect, it } from "vitest";

import type { StreamListener } from "../../../src/wire/transport/event_stream";
import { EventStream } from "../../../src/wire/transport/event_stream";
import type { Answer } from "../../../src/wire/transport/http";
import { OverviewFeed } from "../../../src/wire/transport/overview_feed.svelte";
import { FakeClock } from "../../clock";
import { settle } from "../../server";

interface Numbers {
  readonly count: number;
}

let clock: FakeClock;
let answer: Answer<Numbers>;
let reads: number;
let listeners: StreamListener[];
let feed: OverviewFeed<Numbers>;

beforeEach(() => {
  clock = new FakeClock();
  answer = { kind: "ok", value: { count: 1 } };
  reads = 0;
  listeners = [];
  feed = new OverviewFeed<Numbers>({
    read: async () => (reads++, answer),
    clock,
    stream: (address, listener) => {
      listeners.push(listener);
      return new EventStream(async () => new Response("", { status: 404 }), clock, address, listener);
    },
  });
});

describe("an overview that is kept current", () => {
  it("is read when the screen opens, and its events are handed on", async () => {
    const events: string[] = [];
    feed.open("events", (data) => void events.push(data));
    await settle();
    expect(feed.overview).toEqual({ count: 1 });
    listeners[0]?.event("changed");
    expect(events).toEqual(["changed"]);
  });

  it("follows one stream however often the screen opens, and a new one after it was closed", () => {
    feed.open("events", () => {});
    feed.open("events", () => {});
    expect(listeners).toHaveLength(1);
    feed.close();
    feed.open("events", () => {});
    expect(listeners).toHaveLength(2);
  });

  it("is read once for several changes", async () => {
    feed.scheduleRefresh();
    feed.scheduleRefresh();
    expect(reads).toBe(0);
    clock.pass(150);
    await settle();
    expect(reads).toBe(1);
  });

  it("keeps the last answer and says why there is no new one", async () => {
    await feed.refresh();
    answer = { kind: "refused", status: 500, code: "internal_error", message: "It broke." };
    await feed.refresh();
    expect(feed.overview).toEqual({ count: 1 });
    expect(feed.problem).toBe("It broke.");
  });

  it("shows a change at once, but invents nothing before the first answer", async () => {
    feed.update(({ count }) => ({ count: count + 1 }));
    expect(feed.overview).toBeNull();
    await feed.refresh();
    feed.update(({ count }) => ({ count: count + 1 }));
    expect(feed.overview).toEqual({ count: 2 });
  });
});
