import { describe, expect, it } from "vitest";

import { Notices } from "../../../src/chat/announce/notices.svelte";
import { FakeClock } from "../../clock";

describe("a notice", () => {
  it("disappears after a while, but not while it is held", () => {
    const clock = new FakeClock();
    const notices = new Notices(clock);
    notices.show("Deleted.");
    clock.pass(9000);
    notices.hold(true);
    clock.pass(60_000);
    expect(notices.current?.text).toBe("Deleted.");
    notices.hold(false);
    clock.pass(10_000);
    expect(notices.current).toBeNull();
  });

  it("disappears when the chat it is about is left, unless it is true everywhere", () => {
    const notices = new Notices(new FakeClock());
    notices.enter("#/c/one");
    notices.showHere("Copied.");
    notices.enter("#/c/one");
    expect(notices.current?.text).toBe("Copied.");
    notices.enter("#/c/two");
    expect(notices.current).toBeNull();
    notices.show("Deleted.");
    notices.enter("#/settings");
    expect(notices.current?.text).toBe("Deleted.");
  });

  it("about a chat that is about to open waits for it", () => {
    const notices = new Notices(new FakeClock());
    notices.enter("#/c/one");
    notices.show("A copy.", null, "#/c/copy");
    expect(notices.current?.text).toBe("A copy.");
    notices.enter("#/c/copy");
    expect(notices.current?.text).toBe("A copy.");
    notices.enter("#/c/one");
    expect(notices.current).toBeNull();
  });

  it("gives its place to the next one, for a whole time of its own", () => {
    const clock = new FakeClock();
    const notices = new Notices(clock);
    notices.show("one");
    clock.pass(9000);
    notices.show("two");
    clock.pass(9000);
    expect(notices.current?.text).toBe("two");
  });
});
