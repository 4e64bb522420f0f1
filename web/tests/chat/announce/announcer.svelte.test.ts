import { describe, expect, it } from "vitest";

import { Announcer, readOut } from "../../../src/chat/announce/announcer.svelte";
import { FakeClock } from "../../clock";

describe("reading out", () => {
  it("says a short reply whole and a long one by its beginning and length", () => {
    expect(readOut("mini", "# Hi\n\n- `a`")).toBe("mini: Hi - a");
    const long = readOut("mini", "word ".repeat(200));
    expect(long).toMatch(/^mini wrote 200 words, beginning: word word/);
    expect(long.length).toBeLessThan(500);
  });

  it("empties the region before the same sentence is said again", () => {
    const clock = new FakeClock();
    const announcer = new Announcer(clock);
    announcer.say("Stopped.");
    clock.draw();
    announcer.say("Stopped.");
    expect(announcer.sentence).toBe("");
    clock.draw();
    expect(announcer.sentence).toBe("Stopped.");
  });
});

describe("a reply that is being written", () => {
  const growing = (mode: "ends" | "sentences" | "off") => {
    const clock = new FakeClock();
    const announcer = new Announcer(clock, () => mode);
    const said: string[] = [];
    const hear = () => {
      clock.draw();
      if (announcer.sentence !== "" && announcer.sentence !== said.at(-1)) said.push(announcer.sentence);
    };
    return { clock, announcer, said, hear };
  };

  it("is read out by the sentence, no faster than every two seconds, and in the end what is left", () => {
    const { clock, announcer, said, hear } = growing("sentences");
    let text = "";
    for (const piece of ["One. ", "Two. ", "Three. ", "Fo"]) {
      text += piece;
      announcer.update("row", () => text);
      clock.pass(700);
      hear();
    }
    text += "ur.";
    announcer.finish("mini", text);
    hear();
    expect(said).toEqual(["One. Two. Three.", "Four."]);
  });

  it("is only named at its end when all was read out", () => {
    const { clock, announcer, said, hear } = growing("sentences");
    announcer.update("row", () => "One. ");
    clock.pass(2000);
    hear();
    announcer.finish("mini", "One. ");
    hear();
    expect(said).toEqual(["One.", "mini has answered."]);
  });

  it("is announced at its end by default, and never if switched off", () => {
    const ends = growing("ends");
    ends.announcer.update("row", () => "One. ");
    ends.clock.pass(3000);
    ends.hear();
    ends.announcer.finish("mini", "One.");
    ends.hear();
    expect(ends.said).toEqual(["mini: One."]);
    const off = growing("off");
    off.announcer.sayProgress("mini is answering.");
    off.announcer.finish("mini", "One.");
    off.hear();
    expect(off.said).toEqual([]);
    off.announcer.say("May weather run?");
    off.hear();
    expect(off.said).toEqual(["May weather run?"]);
  });

  it("is forgotten with its page", () => {
    const { clock, announcer } = growing("sentences");
    announcer.update("row", () => "One. ");
    announcer.reset();
    expect(clock.pending).toBe(0);
  });
});
