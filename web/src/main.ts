// The page's composition root: every part is made here and handed to those who need it.
import "./ui/page.css";
import "./ui/prose.css";

import { mount } from "svelte";

import { addressOf, placeOf } from "./chat/address";
import { Announcer } from "./chat/announcer.svelte";
import { Attachments } from "./chat/attachments.svelte";
import { Chat } from "./chat/chat.svelte";
import { Draft } from "./chat/draft.svelte";
import { openFeed } from "./chat/feed";
import { forgetFormer, formerConversation } from "./chat/former";
import { ConversationList } from "./chat/list.svelte";
import { Notices } from "./chat/notices.svelte";
import { Search } from "./chat/search.svelte";
import { optionsFor } from "./settings/options";
import { Preferences } from "./settings/preferences.svelte";
import { Server } from "./settings/server.svelte";
import { BrowserShelf } from "./settings/shelf";
import App from "./ui/App.svelte";
import { browserClock as clock } from "./wire/clock";
import { ConversationClient } from "./wire/conversations";
import { EventStream, type StreamListener } from "./wire/event_source";
import type { Fetch } from "./wire/http";
import { upload } from "./wire/upload";

const browser = new BrowserShelf(() => localStorage);
const tab = new BrowserShelf(() => sessionStorage);
const ask: Fetch = (address, init) => fetch(address, init);
const stream = (address: string, listener: StreamListener) => new EventStream(ask, clock, address, listener);

const client = new ConversationClient(ask);
const preferences = new Preferences(browser);
const draft = new Draft(browser);
const attachments = new Attachments(browser, upload);
const announcer = new Announcer(clock);
const notices = new Notices(clock);
const search = new Search(client, clock);
const server = new Server(ask, clock);

const chat = new Chat({
  client,
  stream,
  clock,
  draft,
  attachments,
  announcer,
  notices,
  options: () => optionsFor(server, preferences),
  trouble: () => void server.refresh(),
  go: (conversation) => {
    const address = addressOf(conversation);
    if (placeOf(location.hash).conversation !== conversation) location.hash = address;
  },
});

const list = new ConversationList({
  client,
  clock,
  notices,
  deleted: (id) => {
    chat.gone(id);
    draft.forget(id);
    attachments.forget(id);
  },
  restored: (id) => (location.hash = addressOf(id)),
  noticed: (conversation) => chat.noticed(conversation),
});

const feed = openFeed(stream, {
  heard: (event) => {
    list.heard(event);
    chat.heard(event);
  },
  trouble: () => void server.refresh(),
});

/** A conversation that an earlier version kept in this tab goes to the server, once. */
async function bringOver(): Promise<void> {
  const file = formerConversation(tab, Date.now());
  if (file === null) return;
  const answer = await client.import("conversation.jsonl", file.text);
  if (answer.kind !== "ok") return;
  forgetFormer(tab);
  if (placeOf(location.hash).conversation === null && chat.shown.length === 0) location.hash = addressOf(answer.value.conversations[0] ?? file.id);
}

/** The server can be asked: now, or again. */
function begin(): void {
  void bringOver();
  void list.load();
  feed.wake();
  chat.wake();
}

// A browser has few lines to one server: a tab nobody looks at lets go of its own.
const REST = 20_000;
let callOffRest: (() => void) | null = null;

function look(): void {
  callOffRest?.();
  callOffRest = null;
  if (document.visibilityState === "visible") {
    void server.refresh();
    feed.wake();
    chat.wake();
  } else {
    callOffRest = clock.after(REST, () => {
      feed.sleep();
      chat.sleep();
    });
  }
}

addEventListener("hashchange", () => void chat.open(placeOf(location.hash)));
addEventListener("online", look);
document.addEventListener("visibilitychange", look);

void server.refresh();
void chat.open(placeOf(location.hash));
mount(App, {
  target: document.getElementById("page")!,
  props: { chat, draft, attachments, list, search, notices, server, preferences, announcer, begin },
});
