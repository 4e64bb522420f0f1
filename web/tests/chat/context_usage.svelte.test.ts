import { beforeEach, describe, expect, it } from "vitest";

import { type Branch, ContextUsage } from "../../src/chat/context_usage.svelte";
import type { ContextFill } from "../../src/wire/chat/conversations";
import type { Answer } from "../../src/wire/transport/http";
import { FakeClock } from "../clock";
import { settle } from "../server";

let clock: FakeClock;
let requests: string[];
let answers: (tokens: number) => Promise<Answer<ContextFill>>;
let branch: Branch;
let usage: ContextUsage;

beforeEach(() => {
  clock = new FakeClock();
  requests = [];
  branch = { conversation: "c", leaf: "a" };
  answers = async (tokens) => ({ kind: "ok", value: { tokens, context: 1000, reply_room: 1000 - tokens, parts: [] } });
  usage = new ContextUsage({ context: (id, leaf) => (requests.push(`${id} ${leaf}`), answers(requests.length * 300)) }, clock, () => branch);
});

describe("the room in the context", () => {
  it("is requested once after many changes", async () => {
    for (let time = 0; time < 5; time++) {
      usage.refreshSoon();
      clock.pass(100);
    }
    expect(requests).toEqual([]);
    clock.pass(500);
    await settle();
    expect(requests).toEqual(["c a"]);
    expect([usage.share, usage.nearlyFull]).toEqual([0.3, false]);
  });

  it("warns when it is nearly used up", async () => {
    answers = async () => ({ kind: "ok", value: { tokens: 1200, context: 1000, reply_room: 0, parts: [] } });
    usage.refreshSoon();
    clock.pass(500);
    await settle();
    expect([usage.share, usage.nearlyFull]).toEqual([1, true]);
  });

  it("is not requested for an empty branch", async () => {
    branch = null;
    usage.refreshSoon();
    clock.pass(500);
    await settle();
    expect(requests).toEqual([]);
  });

  it("stays while the server is away, and goes with its conversation", async () => {
    usage.refreshSoon();
    clock.pass(500);
    await settle();
    answers = async () => ({ kind: "unreachable" });
    usage.refreshSoon();
    clock.pass(500);
    await settle();
    expect(usage.fill?.tokens).toBe(300);
    usage.clear();
    expect(usage.fill).toBeNull();
  });

  it("drops an answer about another conversation", async () => {
    usage.refreshSoon();
    clock.pass(500);
    usage.clear();
    await settle();
    expect(usage.fill).toBeNull();
  });
});
