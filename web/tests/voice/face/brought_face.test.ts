import { describe, expect, it } from "vitest";

import { broughtFace } from "../../../src/voice/face/brought_face";
import { insideOnly } from "../../../src/voice/face/figure/figure_face";
import type { Avatar } from "../../../src/wire/voice/avatars";

const picture: Avatar = { id: "avatar_1", name: "Me", kind: "picture", own: true, shared: false, ready: false, landmarks: null };
const canvas = {} as HTMLCanvasElement;
const signal = new AbortController().signal;

describe("a face that somebody brought", () => {
  it("says what to do where a picture is not marked, before anything is loaded", async () => {
    const client = { file: () => Promise.reject(new Error("asked")) };
    await expect(broughtFace(client, picture)(canvas, signal)).rejects.toThrow("not marked yet");
  });

  it("says so where the server does not give its file", async () => {
    const client = { file: () => Promise.resolve(null) };
    await expect(broughtFace(client, { ...picture, kind: "figure" })(canvas, signal)).rejects.toThrow("could not be loaded");
  });

  it("says so where a figure cannot be drawn, whatever is in its file", async () => {
    const client = { file: () => Promise.resolve(new TextEncoder().encode("glTF and no more of it").buffer as ArrayBuffer) };
    await expect(broughtFace(client, { ...picture, kind: "figure" })(canvas, signal)).rejects.toThrow("can’t be drawn");
  });
});

describe("a figure's file", () => {
  it("may name nothing but its own parts", () => {
    expect(insideOnly("blob:http://localhost/1")).toBe("blob:http://localhost/1");
    for (const address of ["https://example.com/a.png", "//example.com/a", "a.bin", "data:image/png;base64,AA", "file:///etc/passwd", "BLOB:x"]) {
      expect(() => insideOnly(address)).toThrow();
    }
  });
});
