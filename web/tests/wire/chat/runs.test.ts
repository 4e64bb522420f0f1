import { describe, expect, it } from "vitest";

import { textOf } from "../../../src/wire/chat/rows";
import { applyEvent, EMPTY_RUN, readEvent, type RunEvent, type RunView } from "../../../src/wire/chat/runs";

const added = (id: string, more: object = {}): RunEvent => ({ type: "message_added", message: { id, parent: null, role: "assistant", status: "running", ...more } });
const delta = (text: string, kind: "text" | "reasoning" = "text"): RunEvent => ({ type: "delta", message: "a", kind, text });
const after = (...events: RunEvent[]): RunView => events.reduce(applyEvent, EMPTY_RUN);

describe("a run as it is heard", () => {
  it("adds every piece to the row it names", () => {
    const row = after(added("a"), delta("Let me ", "reasoning"), delta("see.", "reasoning"), delta("It "), delta("rains.")).rows.get("a")!;
    expect([row.reasoning, textOf(row.content)]).toEqual(["Let me see.", "It rains."]);
  });

  it("appends to a continued row", () => {
    expect(textOf(after(added("a", { content: [{ type: "text", text: "half " }] }), delta("and half")).rows.get("a")!.content)).toBe("half and half");
  });

  it("joins the pieces of tool calls, each at its place", () => {
    const piece = (call: number, text: string, more: object = {}): RunEvent => ({ type: "delta", message: "a", kind: "tool_call", call, text, ...more });
    const row = after(added("a"), piece(1, '{"b"', { id: "k1", name: "two" }), piece(0, "{}", { id: "k0", name: "one" }), piece(1, ":1}")).rows.get("a")!;
    expect(row.tool_calls).toEqual([
      { id: "k0", name: "one", arguments: "{}" },
      { id: "k1", name: "two", arguments: '{"b":1}' },
    ]);
  });

  it("follows a tool from its row to its result", () => {
    const tool = { id: "t", parent: "a", role: "tool", call: { name: "clock" } } as const;
    const running = after({ type: "message_added", message: tool }, { type: "tool_started", message: "t" }, { type: "tool_output", message: "t", progress: 1, total: 2 });
    expect(running.rows.get("t")?.call).toMatchObject({ name: "clock", state: "running", server: "" });
    expect(running.outputs["t"]).toMatchObject({ progress: 1 });
    const ended = applyEvent(running, { type: "tool_result", message: { ...tool, call: { name: "clock", state: "done", ms: 3 } } });
    expect(ended.rows.get("t")?.call).toMatchObject({ state: "done", ms: 3 });
    expect(ended.outputs).toEqual({});
  });

  it("knows the open approvals", () => {
    const approval = { id: "p", run: "r", conversation: "c" };
    const requests = after({ type: "approval_asked", approval }, { type: "approval_asked", approval });
    expect(requests.approvals).toEqual([approval]);
    expect(applyEvent(requests, { type: "approval_answered", id: "p", decision: null }).approvals).toEqual([]);
  });

  it("keeps what was made of the files of each turn", () => {
    const notes = [{ where: "messages[0].content[0]", kind: "video", became: "frames", count: 12 }] as const;
    const view = after(added("a"), { type: "fitted", message: "a", notes }, added("b"), { type: "fitted", message: "gone", notes });
    expect(view.rows.get("a")?.fitted).toEqual({ transcripts: [], notes });
    expect(view.rows.get("b")?.fitted).toBeNull();
    const kept = { transcripts: [], notes: [{ ...notes[0], count: 6 }] };
    expect(applyEvent(view, { type: "message_done", message: { id: "a", parent: null, role: "assistant", fitted: kept } }).rows.get("a")?.fitted).toEqual(kept);
  });

  it("ignores events after its end", () => {
    const done = after(added("a"), { type: "run_done", outcome: "done" });
    expect(applyEvent(done, delta("late"))).toBe(done);
  });

  it("leaves out a piece of a row it never heard of", () => {
    expect(after(delta("x"))).toBe(EMPTY_RUN);
  });

  it("never changes an earlier view", () => {
    const before = after(added("a"), delta("a"));
    applyEvent(before, delta("b"));
    expect(textOf(before.rows.get("a")!.content)).toBe("a");
  });
});

describe("a line of the stream", () => {
  it("is skipped when this page does not know it", () => {
    for (const data of ["", "{", "null", '"x"', '{"type":"later"}', "{}"]) expect(readEvent(data)).toBeNull();
    expect(readEvent('{"type":"delta","message":"a","kind":"text","text":"x"}')).toEqual(delta("x"));
  });
});
