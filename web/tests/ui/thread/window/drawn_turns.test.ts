import { describe, expect, it } from "vitest";

import { textHeight, turnsAround, turnsAtStart } from "../../../../src/ui/thread/window/drawn_turns";

const turns = (count: number, height = 100) => Array.from({ length: count }, (_, index) => ({ key: `t${index}`, height }));
const heightOf = ({ height }: { height: number }) => height;
const NOTHING = new Set<string>();

describe("the turns drawn at once", () => {
  it("are those at the end that fill the room", () => {
    expect([...turnsAtStart(turns(50), NOTHING, 550, heightOf)]).toEqual(["t49", "t48", "t47", "t46", "t45", "t44"]);
  });

  it("are a few even where one fills the room", () => {
    expect(turnsAtStart(turns(50, 5000), NOTHING, 550, heightOf).size).toBe(4);
    expect(turnsAtStart(turns(2), NOTHING, 550, heightOf).size).toBe(2);
  });

  it("include those a change of the branch has brought", () => {
    const known = new Set(turns(10).map(({ key }) => key));
    expect([...turnsAtStart(turns(50), known, 300, heightOf)]).toEqual(["t49", "t48", "t47", "t46", "t10", "t11", "t12"]);
  });

  it("are not more for turns that were there before", () => {
    const known = new Set(turns(50).map(({ key }) => key));
    expect(turnsAtStart(turns(50), known, 300, heightOf).size).toBe(4);
  });

  it("lie on both sides of one that is sought", () => {
    expect([...turnsAround(turns(50), 20, 200, heightOf)]).toEqual(["t20", "t19", "t18", "t21", "t22"]);
    expect([...turnsAround(turns(50), 0, 200, heightOf)]).toEqual(["t0", "t1", "t2"]);
    expect(turnsAround(turns(50), -1, 200, heightOf).size).toBe(0);
  });
});

describe("the estimated height of a text", () => {
  it("grows with its lines, and with those that break", () => {
    const line = textHeight("a", 70);
    expect(textHeight("a\nb", 70) - line).toBe(textHeight("a".repeat(71), 70) - line);
    expect(textHeight("\n\n\n", 70)).toBeGreaterThan(line);
  });
});
