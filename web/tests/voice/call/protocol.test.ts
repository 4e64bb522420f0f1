import { describe, expect, it } from "vitest";

import { readMessage, startMessage } from "../../../src/voice/call/protocol";

const read = (said: object) => readMessage(JSON.stringify(said));

describe("a message of the server", () => {
  it("is read field by field", () => {
    expect(read({ type: "status", epoch: 2, state: "speaking" })).toEqual({ type: "status", epoch: 2, state: "speaking" });
    expect(read({ type: "transcript", epoch: 0, turn: 3, text: "hi", final: true })).toEqual({ type: "transcript", epoch: 0, turn: 3, text: "hi", final: true, understood: true });
    expect(read({ type: "transcript", turn: 3, text: "", final: true, understood: false })).toMatchObject({ understood: false });
    expect(read({ type: "audio_start", epoch: 1, reply_id: 4, chunk_id: 17, sample_rate: 24000 })).toEqual({ type: "audio_start", epoch: 1, reply: 4, chunk: 17 });
    expect(read({ type: "reply_done", epoch: 1, reply_id: 4, text: "a", unheard: "b", ending: "interrupted" })).toEqual({ type: "reply_done", epoch: 1, reply: 4, text: "a", unheard: "b", ending: "interrupted" });
    expect(read({ type: "queue_update", epoch: 0, position: 2, estimated_wait_s: 12.5 })).toEqual({ type: "queued", epoch: 0, position: 2, wait: 12.5 });
    expect(read({ type: "queued", position: 1, estimated_wait_s: null })).toMatchObject({ wait: null });
    expect(read({ type: "voice", epoch: 0, voice: "low", voice_note: "No such voice." })).toEqual({ type: "voice", epoch: 0, voice: "low" });
    expect(read({ type: "unit", epoch: 0, unit: 3, kv_cache_length: 1200, late_ms: 80.5, is_listen: true })).toEqual({ type: "unit", epoch: 0, unit: { cached: 1200, late: 80.5 } });
    expect(read({ type: "error", epoch: 0, code: "busy", message: "No.", param: null })).toEqual({ type: "error", epoch: 0, code: "busy", message: "No.", param: "" });
  });

  it("has captions whose words make sense, and only those", () => {
    const words = [{ text: "Hello", start_ms: 0, end_ms: 400, at: 0, to: 5 }, { text: "you", start_ms: 500, end_ms: 400 }, null, { text: "x" }, { text: "there", start_ms: 400, end_ms: 700, at: 9, to: 2 }];
    expect(read({ type: "caption", reply_id: 1, words })).toMatchObject({
      words: [
        { text: "Hello", start: 0, end: 400, at: 0, to: 5 },
        { text: "there", start: 400, end: 700 },
      ],
    });
  });

  it("covers tools, approvals and changes of the conversation", () => {
    const tool = { type: "tool", epoch: 1, reply_id: 4, call_id: "c1", name: "calculate", server: "builtin", tool: "calculate", arguments: "{}", state: "running", text: "" };
    expect(read(tool)).toEqual({ type: "tool", epoch: 1, reply: 4, call: "c1", tool: "calculate", server: "builtin", state: "running", text: "" });
    expect(read({ ...tool, state: "dancing" })).toBe(null);
    const approval = { id: "a1", run: "", conversation: "c", server: "files", tool: "delete_note" };
    expect(read({ type: "approval_asked", epoch: 0, reply_id: 4, question: "May I?", approval })).toEqual({ type: "asked", epoch: 0, reply: 4, approval });
    expect(read({ type: "approval_asked", epoch: 0, reply_id: 4, approval: {} })).toBe(null);
    expect(read({ type: "approval_answered", epoch: 0, reply_id: 4, id: "a1", decision: null })).toEqual({ type: "answered", epoch: 0, id: "a1" });
    expect(read({ type: "history", epoch: 2, conversation_id: "c", leaf: null, messages: [] })).toEqual({ type: "history", epoch: 2 });
  });

  it("that is unknown or malformed is ignored", () => {
    for (const frame of ["", "[]", "null", "7", "{", '{"type":"unheard_of"}', '{"type":"audio_start"}', '{"type":"status","state":"dancing"}', '{"type":"pause","reply_id":"1"}']) {
      expect(readMessage(frame)).toBe(null);
    }
  });
});

describe("the beginning of a call", () => {
  it("says what this client can, and only what was chosen", () => {
    const plain = { conversation: null, model: "", voice: "", speed: 1, language: "" } as const;
    expect(JSON.parse(startMessage(plain))).toEqual({ type: "start", features: ["pause", "played", "units", "mouth"], video: "off" });
    expect(JSON.parse(startMessage({ ...plain, conversation: "c1", model: "m", voice: "v", speed: 1.5, language: "de" }))).toMatchObject({
      conversation_id: "c1",
      model: "m",
      voice: "v",
      speed: 1.5,
      language: "de",
    });
  });
});

describe("pictures of a face", () => {
  const SEGMENT = { type: "video_segment", epoch: 2, reply_id: 3, at: 960, first: 4, rate: 25, width: 64, height: 64, codec: "avc1.64001E", sizes: [1], data: "YQ==", last: false };
  const read = (changes: object = {}) => readMessage(JSON.stringify({ ...SEGMENT, ...changes }));

  it("are of a reply, or of the face at rest", () => {
    const segment = { at: 960, first: 4, rate: 25, codec: "avc1.64001E", sizes: [1], data: "YQ==" };
    expect(read()).toEqual({ type: "video_segment", epoch: 2, reply: 3, segment });
    expect(read({ reply_id: null })).toEqual({ type: "video_idle", epoch: 2, segment });
    expect(read({ codec: null, sizes: [], data: "", last: true })).toMatchObject({ segment: { codec: null, sizes: [] } });
    expect(readMessage('{"type":"video_mode","enabled":true,"mode":"stream"}')).toEqual({ type: "video_mode", epoch: 0, enabled: true });
  });

  it("are ignored if their numbers make no sense", () => {
    for (const changes of [{ at: -1 }, { first: 0.5 }, { rate: 0 }, { sizes: null }, { sizes: [-1] }]) expect(read(changes)).toBeNull();
  });
});
