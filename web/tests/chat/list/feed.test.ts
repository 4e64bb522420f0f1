import { describe, expect, it } from "vitest";

import { type FeedEvent, openFeed, parseFeedEvent } from "../../../src/chat/list/feed";
import { EventStream } from "../../../src/wire/transport/event_stream";
import { FakeClock } from "../../clock";
import { settle, FakeServer } from "../../server";

describe("the feed", () => {
  it("passes known events and skips others", async () => {
    const server = new FakeServer();
    const clock = new FakeClock();
    const onEvent: FeedEvent[] = [];
    const stream = openFeed((address, listener) => new EventStream(server.fetch, clock, address, listener), {
      onEvent: (event) => void onEvent.push(event),
      onFailure: () => {},
    });
    stream.resume();
    await settle();
    server.emitFeed({ type: "changed", conversation: "c" });
    server.emitFeed({ type: "new_in_a_later_version" });
    await settle();
    expect(onEvent).toEqual([{ type: "changed", conversation: "c" }]);
    stream.close();
  });

  it("reads no nonsense", () => {
    for (const data of ["", "null", "[]", '{"type":1}']) expect(parseFeedEvent(data)).toBeNull();
  });
});
