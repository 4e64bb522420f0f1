// The page's composition root: every part is made here and handed to those who need it.
import "./ui/page.css";
import "./ui/prose.css";

import { mount } from "svelte";

import { Announcer } from "./chat/announcer.svelte";
import { Chat } from "./chat/chat.svelte";
import { Draft } from "./chat/draft.svelte";
import { ShelfStore } from "./chat/store";
import { optionsFor } from "./settings/options";
import { Preferences } from "./settings/preferences.svelte";
import { Server } from "./settings/server.svelte";
import { BrowserShelf } from "./settings/shelf";
import App from "./ui/App.svelte";
import { browserClock as clock } from "./wire/clock";
import { chatAddress } from "./wire/server";
import { ChatSocket, type Socket } from "./wire/socket";

const browser = new BrowserShelf(() => localStorage);
const tab = new BrowserShelf(() => sessionStorage);

const preferences = new Preferences(browser);
const draft = new Draft(browser);
const announcer = new Announcer(clock);
const server = new Server((address, init) => fetch(address, init), clock);
const socket = new ChatSocket(() => new WebSocket(chatAddress(document.baseURI)) as Socket);

const chat = new Chat({
  socket,
  clock,
  draft,
  announcer,
  store: new ShelfStore(tab),
  options: () => optionsFor(server, preferences),
  trouble: () => void server.refresh(),
});

void server.refresh();
mount(App, { target: document.getElementById("page")!, props: { chat, draft, server, preferences, announcer } });
