import { beforeEach, describe, expect, it } from "vitest";

import { Recordings } from "../../src/settings/recordings.svelte";
import { type RecordingRow, RecordingsClient } from "../../src/wire/voice/recordings";

const row = (id: string): RecordingRow => ({ id, kind: "call", title: "", created: 0, duration: 5000, size: 9, frames: 0, ended: "ended" });
const listed = (...ids: string[]) => Response.json({ recordings: ids.map(row), allowed: true, bytes: 9, limit: 99, keep_days: 30 });
const timeline = () => Response.json({ lines: [], latencies: [], frames: [], duration: 5000 });
const gone = () => new Response('{"error":{"code":"recording_not_found","message":"No such recording."}}', { status: 404 });

let answers: Record<string, () => Response | Promise<Response>>;
let recordings: Recordings;

beforeEach(() => {
  answers = {
    "GET api/recordings": () => listed("a", "b"),
    "GET api/recordings/a": timeline,
    "GET api/recordings/b": timeline,
    "GET api/recordings/a/peaks?bins=240": () => Response.json({ caller: [1], assistant: [2] }),
    "GET api/recordings/b/peaks?bins=240": () => Response.json({ caller: [3], assistant: [4] }),
  };
  recordings = new Recordings(new RecordingsClient(async (address, init = {}) => answers[`${init.method ?? "GET"} ${address}`]?.() ?? gone()));
});

describe("the recordings", () => {
  it("are listed with what they take", async () => {
    expect(recordings.list).toBeNull();
    await recordings.load();
    expect(recordings.list?.recordings.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(recordings.problem).toBe("");
  });

  it("are opened one at a time, and closed by the same press", async () => {
    await recordings.toggle(row("a"));
    expect([recordings.open?.row.id, recordings.open?.waveform.caller]).toEqual(["a", [1]]);
    await recordings.toggle(row("b"));
    expect(recordings.open?.row.id).toBe("b");
    await recordings.toggle(row("b"));
    expect(recordings.open).toBeNull();
  });

  it("show the one that was pressed last, however late another one's answer is", async () => {
    let late = (): void => undefined;
    answers["GET api/recordings/a"] = () => new Promise((done) => (late = () => done(timeline())));
    const first = recordings.toggle(row("a"));
    await recordings.toggle(row("b"));
    late();
    await first;
    expect(recordings.open?.row.id).toBe("b");
  });

  it("say why one could not be opened", async () => {
    await recordings.toggle(row("c"));
    expect([recordings.open, recordings.problem]).toEqual([null, "No such recording."]);
  });

  it("are listed again after one was deleted, which is closed", async () => {
    await recordings.toggle(row("a"));
    answers["DELETE api/recordings/a"] = () => new Response(null, { status: 204 });
    answers["GET api/recordings"] = () => listed("b");
    await recordings.remove(row("a"));
    expect([recordings.open, recordings.list?.recordings.map(({ id }) => id), recordings.problem]).toEqual([null, ["b"], ""]);
  });

  it("say why one could not be deleted, with the list as it is", async () => {
    answers["GET api/recordings"] = () => listed("b");
    await recordings.remove(row("a"));
    expect([recordings.list?.recordings.length, recordings.problem]).toEqual([1, "No such recording."]);
  });
});
