import { describe, expect, it } from "vitest";

import { Usage } from "../../src/usage/usage.svelte";
import { UsageToday } from "../../src/usage/usage_today.svelte";
import { csvAddress, UsageClient } from "../../src/wire/server/usage";

const NOW = Date.UTC(2026, 10, 27, 12);
const ROW = { day: "2026-11-27", key: "k1", user: "u1", name: "Ada", prefix: "duo_ab", model: "small", requests: 3, errors: 0, prompt_tokens: 5, cached_tokens: 0, completion_tokens: 7, sound_in_seconds: 0, sound_out_seconds: 0 };
const STANDING = { limits: { concurrent: 2 }, running: 1, left: {} };

function client(fails: () => boolean = () => false) {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const made = new UsageClient(async (address) => {
    asked.push(address);
    if (address.includes("from=2026-08-30")) await new Promise<void>((resolve) => waiting.push(resolve));
    if (fails()) return new Response('{"error":{"message":"Not now.","code":"unavailable"}}', { status: 503 });
    return new Response(JSON.stringify(address.endsWith("/limits") ? STANDING : { from: "", to: "", rows: [ROW] }));
  });
  return { made, asked, release: () => waiting.splice(0).forEach((resolve) => resolve()) };
}

describe("the usage of keys", () => {
  it("is asked for the days that are shown, today the last", async () => {
    const { made, asked } = client();
    const usage = new Usage(made, () => NOW);
    await usage.load();
    expect(asked).toEqual(["api/usage?from=2026-10-29&to=2026-11-27", "api/usage/limits"]);
    expect([usage.loaded, usage.days.length, usage.rows, usage.standing?.running]).toEqual([true, 30, [ROW], 1]);
    await usage.show(7);
    expect([usage.days.length, usage.days[0]]).toEqual([7, "2026-11-21"]);
    expect(csvAddress("2026-11-21", "2026-11-27")).toBe("api/usage?from=2026-11-21&to=2026-11-27&group=day,key,model,kind&format=csv");
  });

  it("says why there is none, and keeps what there was", async () => {
    let broken = false;
    const usage = new Usage(client(() => broken).made, () => NOW);
    await usage.load();
    broken = true;
    await usage.load();
    expect([usage.problem !== "", usage.rows.length]).toEqual([true, 1]);
  });

  it("of a span that is no longer shown is not shown when it comes late", async () => {
    const { made, release } = client();
    const usage = new Usage(made, () => NOW);
    const slow = usage.show(90);
    await usage.show(7);
    release();
    await slow;
    expect([usage.span, usage.days.length]).toEqual([7, 7]);
  });

  it("of today is known for each key, also for one that did nothing", async () => {
    const today = new UsageToday(client().made, () => NOW);
    expect(today.of("k1")).toBeNull();
    await today.load();
    expect([today.of("k1")?.requests, today.of("k1")?.completion, today.of("k2")?.requests]).toEqual([3, 7, 0]);
  });
});
