import { describe, expect, it } from "vitest";

import { accepts, documentModeFor, isText, unsupportedFile } from "../../../src/chat/draft/file_support";

const reader = { name: "reader", modalities: ["text"] };
const seer = { name: "seer", modalities: ["text", "image"] };
const unknown = { name: "unknown" };

describe("a file and a model", () => {
  it("fit when text will do", () => {
    for (const mime of ["text/plain", "application/pdf", "application/json", "", "application/octet-stream"]) expect(accepts(reader, { mime })).toBe(true);
  });

  it("do not when it is a picture and the model only reads", () => {
    expect(accepts(reader, { mime: "image/png" })).toBe(false);
    expect(accepts(seer, { mime: "image/png" })).toBe(true);
    expect(accepts(reader, { mime: "video/mp4" })).toBe(false);
  });

  it("do when the server makes of it what the model takes: frames of a video, text of sound", () => {
    expect(accepts(seer, { mime: "video/mp4" })).toBe(true);
    expect([accepts(reader, { mime: "audio/wav" }), accepts(reader, { mime: "audio/wav" }, true)]).toEqual([false, true]);
    expect(unsupportedFile({ mime: "video/mp4" }, reader, [reader, seer], true)).toEqual({ kind: "video", asText: false, others: ["seer"] });
  });

  it("are the server's matter where the model does not say", () => {
    const untold = { ...reader, untold: ["image"] };
    expect(accepts(untold, { mime: "image/png" })).toBe(true);
    expect(accepts(untold, { mime: "audio/mpeg" })).toBe(false);
    expect(accepts(unknown, { mime: "audio/mpeg" })).toBe(true);
    expect(accepts(null, { mime: "audio/mpeg" })).toBe(true);
  });

  it("that do not fit have ways out: others by name, a document's text", () => {
    expect(unsupportedFile({ mime: "image/png" }, reader, [reader, seer, unknown, { ...seer, name: "sleeper", state: "loading" }])).toEqual({ kind: "image", asText: false, others: ["seer"] });
    expect(unsupportedFile({ mime: "application/pdf", given: "pages" }, reader, [reader])).toEqual({ kind: "image", asText: true, others: [] });
    expect(unsupportedFile({ mime: "application/pdf" }, reader, [reader])).toBeNull();
    expect(unsupportedFile({ mime: "image/png" }, seer, [reader, seer])).toBeNull();
  });
});

describe("a document", () => {
  const pdf = "application/pdf";

  it("is given as was chosen, even where that does not fit", () => {
    expect(documentModeFor(pdf, "pages", "text", reader)).toBe("pages");
  });

  it("is else given as the person likes it, where the model can", () => {
    expect(documentModeFor(pdf, undefined, "auto", seer)).toBeUndefined();
    expect(documentModeFor(pdf, undefined, "text", seer)).toBe("text");
    expect(documentModeFor(pdf, undefined, "pages", seer)).toBe("pages");
    expect(documentModeFor(pdf, undefined, "pages", reader)).toBeUndefined();
  });

  it("is only a PDF: of no other file there are pages", () => {
    expect(documentModeFor("image/png", "pages", "pages", seer)).toBeUndefined();
    expect([isText({ mime: "text/csv" }), isText({ mime: "application/json" }), isText({ mime: pdf })]).toEqual([true, true, false]);
  });
});
