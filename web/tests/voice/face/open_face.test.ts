import { beforeEach, expect, test } from "vitest";

import { DEFAULT_FACE, faceOf } from "../../../src/voice/face/open_face";
import type { Answer } from "../../../src/wire/transport/http";

const LOOK = { name: "a", title: "A", colours: { light: {}, dark: {} }, shapes: [], head: [] };
const GONE = { kind: "refused", status: 404, code: "avatar_not_found", message: "Gone." } as const;
const canvas = { getContext: () => ({}) } as unknown as HTMLCanvasElement;
const soon = () => AbortSignal.timeout(10_000);
let asked: string[];

beforeEach(() => {
  asked = [];
});

function server(drawn: readonly string[], brought: readonly string[] = []) {
  const answer = <Value>(id: string, known: readonly string[], value: Value): Answer<Value> => (known.includes(id) ? { kind: "ok", value } : GONE);
  return {
    look: async (id: string) => (asked.push(`look ${id}`), answer(id, drawn, LOOK)),
    get: async (id: string) => (asked.push(`get ${id}`), answer(id, brought, { id, name: "Me", kind: "picture" as const, own: true, shared: false, ready: false, landmarks: null })),
    file: async () => null,
  };
}

test("without a choice the default face is drawn", async () => {
  await faceOf(server([DEFAULT_FACE]), "")(canvas, soon());
  expect(asked).toEqual([`look ${DEFAULT_FACE}`]);
});

test("a face that is gone is replaced by the default", async () => {
  await faceOf(server([DEFAULT_FACE]), "gone")(canvas, soon());
  expect(asked).toEqual(["look gone", "get gone", `look ${DEFAULT_FACE}`]);
});

test("a face that somebody brought is opened as its kind, and says what it lacks", async () => {
  await expect(faceOf(server([], ["mine"]), "mine")(canvas, soon())).rejects.toThrow(/mark/i);
});

test("a server without the default, or none at all, is a sentence", async () => {
  await expect(faceOf(server([]), "")(canvas, soon())).rejects.toThrow(/face/);
  const silent = { ...server([]), look: async () => ({ kind: "unreachable" }) as const };
  await expect(faceOf(silent, "theo")(canvas, soon())).rejects.toThrow(/face/);
});

test("a face that is no longer wanted is not opened", async () => {
  const abort = new AbortController();
  abort.abort();
  await expect(faceOf(server([DEFAULT_FACE]), "")(canvas, abort.signal)).rejects.toThrow();
});
