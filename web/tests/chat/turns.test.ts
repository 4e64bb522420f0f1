import { describe, expect, it } from "vitest";

import { groupSilent, modelTurns, turnsOf } from "../../src/chat/turns";
import type { Role } from "../../src/wire/chat/rows";

const row = (key: string, role: Role, kind: "message" | "summary" = "message") => ({ key, role, kind });

describe("a path as it is drawn", () => {
  it("makes one reply of everything up to the next thing said", () => {
    const turns = turnsOf([row("s", "system"), row("u", "user"), row("a", "assistant"), row("t", "tool"), row("b", "assistant"), row("v", "user")]);
    expect(turns.map(({ kind, key }) => `${kind} ${key}`)).toEqual(["system s", "user u", "reply a", "user v"]);
    expect(turns[2]).toMatchObject({ rows: [{ key: "a" }, { key: "t" }, { key: "b" }] });
  });

  it("lets a summary stand between two replies", () => {
    const turns = turnsOf([row("a", "assistant"), row("s", "assistant", "summary"), row("b", "assistant")]);
    expect(turns.map(({ kind }) => kind)).toEqual(["reply", "summary", "reply"]);
  });

  it("gives each turn of the model its tools, and keeps tools that lost theirs", () => {
    const parts = modelTurns([row("x", "tool"), row("a", "assistant"), row("t", "tool"), row("u", "tool"), row("b", "assistant")]);
    expect(parts.map(({ key, row, tools }) => [key, row?.key ?? null, tools.map((tool) => tool.key)])).toEqual([
      ["x", null, ["x"]],
      ["a", "a", ["t", "u"]],
      ["b", "b", []],
    ]);
  });

  it("groups tool calls without text between them", () => {
    const rows = [row("a", "assistant"), row("t", "tool"), row("b", "assistant"), row("u", "tool"), row("c", "assistant"), row("d", "assistant")];
    const groups = groupSilent(modelTurns(rows), ({ key }) => key === "b" || key === "d");
    expect(groups.map(({ key, parts }) => [key, parts.map((part) => part.key)])).toEqual([
      ["a", ["a", "b"]],
      ["c", ["c", "d"]],
    ]);
  });

  it("never joins the first to anything", () => {
    expect(groupSilent(modelTurns([row("x", "tool"), row("a", "assistant")]), () => true).map(({ key, row }) => [key, row])).toEqual([["x", null]]);
    expect(groupSilent(modelTurns([row("a", "assistant")]), () => true)).toHaveLength(1);
  });
});
