import { beforeEach, describe, expect, it } from "vitest";

import { byConversation, Search, snippetParts } from "../../../src/chat/list/search.svelte";
import { ConversationClient } from "../../../src/wire/chat/conversations";
import { FakeClock } from "../../clock";
import { settle } from "../../server";

let clock: FakeClock;
let requests: { query: string; answer: (hits: object[]) => void }[];
let search: Search;

beforeEach(() => {
  clock = new FakeClock();
  requests = [];
  const client = new ConversationClient(
    (address) =>
      new Promise((resolve) => {
        const query = new URL(address, "http://x").searchParams.get("q") ?? "";
        requests.push({ query, answer: (hits) => resolve(new Response(JSON.stringify({ hits }))) });
      }),
  );
  search = new Search(client, clock);
});

describe("searching", () => {
  it("waits for a pause in the typing", () => {
    for (const query of ["t", "te", " tea "]) search.query = query;
    clock.pass(200);
    expect(requests.map(({ query }) => query)).toEqual(["tea"]);
  });

  it("drops the late answer to earlier words", async () => {
    search.query = "tea";
    clock.pass(200);
    search.query = "coffee";
    clock.pass(200);
    requests[1]!.answer([{ message: "b" }]);
    requests[0]!.answer([{ message: "a" }]);
    await settle();
    expect(search.hits).toEqual([{ message: "b" }]);
  });

  it("ends with the words", async () => {
    search.query = "tea";
    clock.pass(200);
    search.query = "";
    requests[0]!.answer([{ message: "a" }]);
    await settle();
    expect(search.hits).toBeNull();
  });
});

describe("a snippet", () => {
  it("is cut at its marks, counted in characters", () => {
    expect(snippetParts("🍵 green tea", [[2, 7], [8, 11]])).toEqual([
      { text: "🍵 ", marked: false },
      { text: "green", marked: true },
      { text: " ", marked: false },
      { text: "tea", marked: true },
    ]);
  });

  it("survives marks that overlap or are missing", () => {
    expect(snippetParts("tea", undefined)).toEqual([{ text: "tea", marked: false }]);
    expect(snippetParts("tea", [[0, 2], [1, 3]]).map(({ text }) => text).join("")).toBe("tea");
  });
});

it("puts what was found in one conversation together, the best first", () => {
  const hit = (conversation: string, message: string) => ({ conversation, message, title: conversation, role: "user", created: 0, snippet: "" }) as const;
  const found = byConversation([hit("b", "1"), { ...hit("a", "2"), archived: true }, hit("b", "3")]);
  expect(found.map(({ conversation, archived, hits }) => [conversation, archived, hits.map(({ message }) => message).join("")])).toEqual([
    ["b", false, "13"],
    ["a", true, "2"],
  ]);
});
