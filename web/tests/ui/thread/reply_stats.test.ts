import { describe, expect, it } from "vitest";

import { type ReplyStats, replyStats, statsDetail, statsSummary } from "../../../src/ui/thread/reply_stats";

const NOTHING: ReplyStats = { tokens: 1, reasoning: 0, input: null, cached: 0, generateMs: null, firstTokenMs: null, queueMs: 0, estimated: false };
const spaced = (text: string) => text.replaceAll("\u00a0", " ");

describe("the statistics of a reply", () => {
  it("summarise only what is known", () => {
    expect(spaced(statsSummary({ ...NOTHING, tokens: 38, input: 9, generateMs: 340, firstTokenMs: 214 }))).toBe("38 tokens · 112/s · first after 0.21 s");
    expect(statsSummary(NOTHING)).toBe("1 token");
    expect(statsSummary({ ...NOTHING, tokens: 5, generateMs: 5 })).toBe("5 tokens");
  });

  it("give the details: model, input, reasoning, waiting time", () => {
    expect(statsDetail(NOTHING, "mini")).toBe("by mini");
    const stats = { ...NOTHING, tokens: 50, reasoning: 20, input: 1200, cached: 1000, queueMs: 2300 };
    expect(spaced(statsDetail(stats, "mini"))).toBe("by mini · 1,200 tokens read, 1,000 cached · 20 tokens of thinking · queued for 2.3 s");
    expect(statsDetail({ ...NOTHING, input: 7, estimated: true }, "mini")).toContain("~7 tokens read");
    expect(statsSummary({ ...NOTHING, tokens: 7, estimated: true })).toBe("~7 tokens");
  });

  it("add up the turns of a reply", () => {
    const turns = [
      { usage: { input: 10, output: 5 }, timings: { generate: 100, first: 40 } },
      { usage: null, timings: null },
      { usage: { input: 30, output: 7 }, timings: { generate: 50, first: 20 } },
    ];
    expect(replyStats(turns)).toEqual({ ...NOTHING, tokens: 12, input: 30, generateMs: 150, firstTokenMs: 40 });
    expect(replyStats([{ usage: null, timings: null }])).toBeNull();
  });
});
