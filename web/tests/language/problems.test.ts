import { describe, expect, it, test } from "vitest";

import { problems as german } from "../../src/language/de/shell/problems";
import { problems as english } from "../../src/language/en/shell/problems";
import { problems as spanish } from "../../src/language/es/shell/problems";
import { problems as french } from "../../src/language/fr/shell/problems";

const refused = { code: "upstream_refused", message: "box refused the key (401). It says: No.", reason: "key_refused", detail: "No." };

test("in English the server's own sentence about a connected server is shown", () => {
  expect(english().ofUpstream(refused)).toBe(refused.message);
});

describe.each([
  { language: "German", problems: german, key: "Schlüssel", says: "Meldung: No." },
  { language: "French", problems: french, key: "clé", says: "Il indique\u00a0: No." },
  { language: "Spanish", problems: spanish, key: "clave", says: "Dice: No." },
])("in $language", ({ problems, key, says }) => {
  it("a reason has words, with what the other server says itself", () => {
    const sentence = problems.ofUpstream(refused);
    expect(sentence).toContain(key);
    expect(sentence).toContain(says);
    expect(sentence).not.toContain("refused");
  });

  it("a reason without words of the other server has nothing appended", () => {
    expect(problems.ofUpstream({ code: "upstream_unreachable", message: "m", reason: "not_listening", detail: "" })).not.toContain(says.slice(0, -3));
  });

  it("a problem without a reason is told by its code, and an unknown one as it is", () => {
    expect(problems.ofUpstream({ code: "upstream_empty", message: "The server has no model." })).not.toContain("The server");
    expect(problems.ofUpstream({ code: "new_code", message: "Something new." })).toBe("Something new.");
  });

  it("a full disk is told with its numbers and what to do", () => {
    const values = { needed: 5_000_000_000, free: 300_000_000, folder: "/data/models" };
    const sentence = problems.told("disk_full", "Only 0.3 GB are free.", values);
    for (const part of ["/data/models", "GB", "300", "--data"]) expect(sentence).toContain(part);
    expect(sentence).not.toContain("Only");
    expect(problems.told("disk_full", "m", { ...values, needed: 0 })).not.toContain("GB");
    expect(problems.told("disk_full", "Only 0.3 GB are free.")).toContain("Only");
  });

  it("the server's sentence stands after words for its code only where it says more", () => {
    expect(problems.told("queue_full", "The queue is full.")).not.toContain("The queue");
    expect(problems.told("model_not_found", "No model box.")).toMatch(/. No model box\.$/);
  });
});
