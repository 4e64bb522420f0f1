import { describe, expect, it } from "vitest";

import { documentOf, isPreviewable, parseFrameMessage } from "../../src/markdown/preview";

describe("what a frame says", () => {
  it("is taken for what it is", () => {
    expect(parseFrameMessage({ kind: "ready", more: 1 })).toEqual({ kind: "ready" });
    expect(parseFrameMessage({ kind: "height", height: 120.5 })).toEqual({ kind: "height", height: 120.5 });
    expect(parseFrameMessage({ kind: "drawn", svg: "<svg/>" })).toEqual({ kind: "drawn", svg: "<svg/>" });
  });

  it.each([null, "ready", 3, {}, { kind: "other" }, { kind: "height", height: "9" }, { kind: "height", height: -1 }, { kind: "height", height: NaN }, { kind: "drawn" }])(
    "is no message when it is %j",
    (data) => {
      expect(parseFrameMessage(data)).toBeNull();
    },
  );

  it("has bounds", () => {
    expect(parseFrameMessage({ kind: "height", height: 1e9 })).toEqual({ kind: "height", height: 20_000 });
    expect(parseFrameMessage({ kind: "failed", sentence: "x".repeat(9000) })).toMatchObject({ sentence: "x".repeat(2000) });
    expect(parseFrameMessage({ kind: "drawn", svg: "x".repeat(5_000_001) })).toBeNull();
  });
});

describe("a preview", () => {
  it("exists for pages and drawings", () => {
    expect([["html", ""], ["SVG", ""], ["xml", "<?xml version='1.0'?>\n<svg>"], ["xml", "<rss>"], ["js", "<svg>"]].map(([language, code]) => isPreviewable(language!, code!))).toEqual([
      ...[true, true, true, false, false],
    ]);
  });

  it("is a document whose links lead nowhere", () => {
    expect(documentOf("html", "<!DOCTYPE html>\n<html lang=de><p>x")).toBe('<!doctype html><base target="_blank">\n<html lang=de><p>x');
    expect(documentOf("html", "<p>x")).toBe('<!doctype html><base target="_blank"><p>x');
    expect(documentOf("svg", "<?xml version='1.0'?><svg/>")).toMatch(/^<!doctype html><base target="_blank"><style>.*<svg\/>$/);
  });
});
