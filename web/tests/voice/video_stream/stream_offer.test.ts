import { afterEach, expect, it, vi } from "vitest";

import { streamedFace } from "../../../src/voice/video_stream/stream_offer";
import type { AvatarKind, AvatarList } from "../../../src/wire/voice/avatars";

const face = (id: string, kind: AvatarKind, ready = true) => ({ id, name: id, kind, own: false, shared: true, ready });
const AVATARS = [face("mira", "drawn"), face("p1", "picture"), face("p2", "picture", false), face("v1", "figure")];

const server = (rendered?: AvatarKind[]) => ({ list: async () => ({ kind: "ok", value: { avatars: AVATARS, ...(rendered && { rendered }) } as AvatarList }) as const });

function browser(supported: boolean): void {
  vi.stubGlobal("VideoDecoder", { isConfigSupported: async () => ({ supported }) });
}

afterEach(() => vi.unstubAllGlobals());

it("asks for the chosen face, or the default one, if the server renders its kind", async () => {
  browser(true);
  expect(await streamedFace(server(["drawn", "picture"]), "p1")).toMatchObject({ id: "p1", kind: "picture" });
  expect(await streamedFace(server(["drawn"]), "")).toMatchObject({ id: "mira", kind: "drawn" });
});

it("asks for none that the server does not render now, that is not marked, or that is gone", async () => {
  browser(true);
  expect(await streamedFace(server(["drawn"]), "p1")).toBeNull();
  expect(await streamedFace(server(["drawn", "picture"]), "p2")).toBeNull();
  expect(await streamedFace(server(["drawn", "picture"]), "v1")).toBeNull();
  expect(await streamedFace(server(["drawn"]), "gone")).toBeNull();
  expect(await streamedFace(server(), "mira")).toBeNull();
});

it("asks for none where the browser has no decoder or not this one", async () => {
  expect(await streamedFace(server(["drawn"]), "mira")).toBeNull();
  browser(false);
  expect(await streamedFace(server(["drawn"]), "mira")).toBeNull();
});
