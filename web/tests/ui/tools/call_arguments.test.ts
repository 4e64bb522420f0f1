import { describe, expect, it } from "vitest";

import { argumentsOf, beginning } from "../../../src/ui/tools/call_arguments";

describe("the arguments of a call", () => {
  it("are labelled values in their order", () => {
    expect(argumentsOf('{"path": "a b", "lines": 3, "tags": ["x"], "force": true}')).toEqual([
      { name: "path", value: "a b", literal: false },
      { name: "lines", value: "3", literal: true },
      { name: "tags", value: '["x"]', literal: true },
      { name: "force", value: "true", literal: true },
    ]);
  });

  it("are laid out over lines where a list is long", () => {
    const [argument] = argumentsOf(JSON.stringify({ files: ["a".repeat(40), "b".repeat(40)] }))!;
    expect(argument!.value.split("\n")).toHaveLength(4);
  });

  it("may be none", () => {
    for (const text of ["", "  ", "{}", "{ }"]) expect(argumentsOf(text)).toEqual([]);
  });

  it("are not known while they are written, or if they are no object", () => {
    for (const text of ['{"path": "a', "[1]", "null", "12", "rain"]) expect(argumentsOf(text)).toBeNull();
  });

  it("cannot look like others", () => {
    const [argument] = argumentsOf('{"file\\u200b": "report\\u202egpj.exe\\u0007\\nnext"}')!;
    expect(argument).toEqual({ name: "file\\u200b", value: "report\\u202egpj.exe\\u0007\nnext", literal: false });
  });

  it("named like a part of every object are shown too", () => {
    expect(argumentsOf('{"__proto__": "x"}')).toEqual([{ name: "__proto__", value: "x", literal: false }]);
  });
});

describe("a long value", () => {
  it("is shown whole up to a limit", () => {
    expect(beginning("a\n".repeat(5) + "a")).toBeNull();
    expect(beginning("x".repeat(320))).toBeNull();
  });

  it("begins with its first lines and characters", () => {
    expect(beginning("a\n".repeat(7))).toBe("a\na\na\na\na\na …");
    expect(beginning("x".repeat(321))).toBe(`${"x".repeat(320)} …`);
  });

  it("never ends with half of a character", () => {
    expect(beginning(`${"x".repeat(319)}😀 and more`)).toBe(`${"x".repeat(319)} …`);
  });
});
