import { describe, expect, it } from "vitest";

import { dateGroups, untilMidnight } from "../../../src/chat/list/date_groups";
import { conversation } from "../../rows";

const now = new Date(2026, 2, 30, 9, 30);
const at = (...when: [number, number, number, number?, number?]) => conversation(when.join("-"), new Date(...when).getTime());
const grouped = (...items: ReturnType<typeof at>[]) => dateGroups(items, now).map(({ key, items: inside }) => `${key}: ${inside.map(({ id }) => id).join(" ")}`);

describe("the groups of a list", () => {
  it("end at midnight, as this machine's clock has it", () => {
    expect(grouped(at(2026, 2, 30, 0, 0), at(2026, 2, 29, 23, 59), at(2026, 2, 29, 0, 0), at(2026, 2, 28, 23, 59))).toEqual([
      "today: 2026-2-30-0-0",
      "yesterday: 2026-2-29-23-59 2026-2-29-0-0",
      "week: 2026-2-28-23-59",
    ]);
  });

  it("are seven days, thirty days, then months", () => {
    expect(grouped(at(2026, 2, 23), at(2026, 2, 22), at(2026, 1, 28), at(2026, 1, 27), at(2026, 1, 1), at(2025, 1, 20))).toEqual([
      "week: 2026-2-23",
      "month: 2026-2-22 2026-1-28",
      "2026-02: 2026-1-27 2026-1-1",
      "2025-02: 2025-1-20",
    ]);
  });

  it("have tomorrow's in today, where two clocks differ", () => {
    expect(grouped(at(2026, 2, 31))).toEqual(["today: 2026-2-31"]);
  });

  it("of nothing are none", () => {
    expect(grouped()).toEqual([]);
  });
});

it("knows how long today is still today", () => {
  expect(untilMidnight(now)).toBe(14.5 * 3_600_000);
});
