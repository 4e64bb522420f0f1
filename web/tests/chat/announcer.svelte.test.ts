import { describe, expect, it } from "vitest";

import { Announcer, readOut } from "../../src/chat/announcer.svelte";
import { FakeClock } from "../clock";

describe("reading out", () => {
  it("says a short reply whole and a long one by its beginning and length", () => {
    expect(readOut("mini", "# Hi\n\n- `a`")).toBe("mini: Hi - a");
    const long = readOut("mini", "word ".repeat(200));
    expect(long).toMatch(/^mini wrote 200 words, beginning: word word/);
    expect(long.length).toBeLessThan(500);
  });

  it("empties the region before the same sentence is said again", () => {
    const clock = new FakeClock();
    const announcer = new Announcer(clock);
    announcer.say("Stopped.");
    clock.draw();
    announcer.say("Stopped.");
    expect(announcer.sentence).toBe("");
    clock.draw();
    expect(announcer.sentence).toBe("Stopped.");
  });
});
