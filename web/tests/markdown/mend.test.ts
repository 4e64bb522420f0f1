import { beforeAll, describe, expect, it } from "vitest";

import { loadRemend, mend } from "../../src/markdown/mend";

beforeAll(loadRemend);

describe("an unfinished block", () => {
  it("has its emphasis and code closed", () => {
    expect(mend("a **bold wo", false)).toBe("a **bold wo**");
    expect(mend("run `make", false)).toBe("run `make`");
  });

  it("shows a half link as its text", () => {
    expect(mend("see [the guide](https://exam", false)).toBe("see the guide");
  });

  it.each(["-", "1.", "##", "  *", "> ", "```"])("holds %j back: it may become something else", (line) => {
    expect(mend(`text\n${line}`, false)).toBe("text");
  });

  it("lets a number that stands alone through", () => {
    expect(mend("It is\n\n5", false)).toBe("It is\n\n5");
  });

  it("leaves the rows of a table alone", () => {
    expect(mend("| a |\n|---|\n| 1", true)).toBe("| a |\n|---|\n| 1");
  });

  it("leaves what is in a formula alone", () => {
    expect(mend("with $a_1 * b$ and **bo", false)).toBe("with $a_1 * b$ and **bo**");
    expect(mend("\\(x_* \\)", false)).toBe("\\(x_* \\)");
  });
});
