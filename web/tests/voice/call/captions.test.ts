import { describe, expect, it } from "vitest";

import { alignWords, Captions, splitAt, withoutMarkup } from "../../../src/voice/call/captions";

const word = (text: string, start: number, end: number, at?: number, to?: number) => ({ text, start, end, ...(at === undefined || to === undefined ? {} : { at, to }) });

describe("the word that is being spoken", () => {
  const written = "Hello there, it costs 23 €.";
  const words = [word("Hello", 0, 300), word("there", 300, 600), word("it", 700, 800), word("costs", 800, 1100), word("twenty", 1100, 1300), word("three", 1300, 1500), word("euros", 1500, 1900)];

  it("is found in what is written", () => {
    const places = alignWords(written, words);
    expect(splitAt(written, places, 350)).toEqual({ spoken: "Hello ", current: "there", upcoming: ", it costs 23 €." });
    expect(splitAt(written, places, 650)).toEqual({ spoken: "Hello there", current: "", upcoming: ", it costs 23 €." });
    expect(splitAt(written, [], 350)).toEqual({ spoken: "", current: "", upcoming: written });
  });

  it("that is not written as it is spoken stays where the one before it was", () => {
    expect(splitAt(written, alignWords(written, words), 1200).current).toBe("costs");
  });

  it("is the part the server names, where it does", () => {
    const places = alignWords(written, [word("twenty three", 1100, 1500, 22, 24)]);
    expect(splitAt(written, places, 1200)).toEqual({ spoken: "Hello there, it costs ", current: "23", upcoming: " €." });
  });

  it("is counted in characters, as the server counts", () => {
    const smile = "😀😀 yes, indeed";
    expect(splitAt(smile, alignWords(smile, [word("yes", 0, 100, 3, 6), word("far", 100, 200, 90, 95)]), 50).current).toBe("yes");
  });

  it("is not looked for far away", () => {
    const long = `${"so ".repeat(60)}end`;
    expect(alignWords(long, [word("end", 0, 1)])[0]).toMatchObject({ at: 0, to: 0 });
  });
});

it("leaves out the marks of Markdown, and nothing that is said", () => {
  expect(withoutMarkup("# It is **five**, `a_b` and _so_ on: 2 * 3")).toBe("It is five, a_b and so on: 2  3");
});

describe("the lines of a call", () => {
  it("grow, turn by turn and reply by reply", () => {
    let captions = new Captions().withTranscript("t1", "hel", false, true).withTranscript("t1", "hello", true, true).withReplyText("r1", 1, "Hi", false);
    captions = captions.withWords("r1", 1, [word("Hi", 0, 100)]).withReplyText("r1", 1, "Hi you", true).withWords("r1", 1, [word("you", 100, 200)]);
    expect(captions.lines).toMatchObject([
      { side: "user", text: "hello", final: true },
      { side: "reply", reply: 1, text: "Hi you", final: true, words: [{ text: "Hi" }, { text: "you" }], ending: null },
    ]);
  });

  it("say what was heard of a reply that was cut off, and what was not", () => {
    const captions = new Captions().withReplyText("r1", 1, "One two three", true).withReplyDone("r1", 1, "One two", " three", "interrupted");
    expect(captions.lines).toMatchObject([{ text: "One two", unheard: " three", ending: "interrupted" }]);
  });

  it("leave out what was never said", () => {
    const captions = new Captions().withTranscript("t1", "uh", false, true).withTranscript("t1", "", true, true).withReplyText("r1", 1, "x", false).withReplyDone("r1", 1, "", "x", "replaced");
    expect(captions.lines).toEqual([]);
  });

  it("say where nothing was understood", () => {
    expect(new Captions().withTranscript("t1", "", true, false).lines).toMatchObject([{ understood: false }]);
  });

  it("are limited in number", () => {
    let captions = new Captions();
    for (let turn = 0; turn < 100; turn++) captions = captions.withTranscript(`t${turn}`, "a", true, true);
    expect(captions.lines.length).toBe(40);
    expect(captions.lines.at(-1)!.id).toBe("t99");
  });
});
