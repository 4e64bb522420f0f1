// The page's composition root: creates all state and mounts the page.
import "./ui/app/page.css";
import "./ui/app/print.css";
import "./ui/markdown/prose.css";

import { mount } from "svelte";

import { Announcer } from "./chat/announce/announcer.svelte";
import { type Attachment, Attachments } from "./chat/draft/attachments.svelte";
import { Chat } from "./chat/chat.svelte";
import { Choices } from "./chat/choices.svelte";
import { ChosenModel } from "./chat/chosen_model.svelte";
import { loadedModel } from "./chat/model_choice";
import { Draft } from "./chat/draft/draft.svelte";
import type { DraftSync } from "./chat/draft/draft_sync";
import { openFeed } from "./chat/list/feed";
import { accepts, documentModeFor, isPdf, requiredModality } from "./chat/draft/file_support";
import { MediaFits } from "./chat/draft/media_fits.svelte";
import { ConversationList } from "./chat/list/conversation_list.svelte";
import { Notices } from "./chat/announce/notices.svelte";
import { Search } from "./chat/list/search.svelte";
import { problems } from "./language/en/shell/problems";
import { shell as words } from "./language/en/shell/shell";
import { preferredLanguage, setLanguage } from "./language/language.svelte";
import { registerWorker } from "./offline/register";
import { clearStorage } from "./settings/browser_data";
import { optionsFor } from "./settings/options";
import { isDifferentUser } from "./settings/owner";
import { Preferences } from "./settings/preferences.svelte";
import { Server } from "./settings/server.svelte";
import { BrowserStorage } from "./settings/storage";
import { chatAddress, parseRoute, screenAddress } from "./shell/route";
import { Shell } from "./shell/shell.svelte";
import App from "./ui/app/App.svelte";
import { Voice } from "./voice/voice.svelte";
import { browserClock as clock } from "./wire/transport/clock";
import { ConversationClient } from "./wire/chat/conversations";
import { fetchFit } from "./wire/chat/fits";
import { EventStream, type StreamListener } from "./wire/transport/event_stream";
import { FolderClient } from "./wire/chat/folders";
import { type Fetch, problemOf, request } from "./wire/transport/http";
import { UserSettingsClient } from "./wire/server/settings";
import { uploader } from "./wire/transport/upload";

const browser = new BrowserStorage(() => localStorage);
const tab = new BrowserStorage(() => sessionStorage);
const browserFetch: Fetch = (address, init) => fetch(address, init);
const stream = (address: string, listener: StreamListener) => new EventStream(browserFetch, clock, address, listener);

const client = new ConversationClient(browserFetch);
const draft = new Draft(browser);
const answering = () => chosen.model;
const documentModeOf = ({ mime, given }: Attachment) => documentModeFor(mime, given, preferences.page.documents, answering());
/** Whether sound is written down for models that take none. */
const writesDown = () => server.capabilities?.features?.["transcription"] ?? false;
const fits = new MediaFits((blob, model) => fetchFit(browserFetch, blob, model));
const upload = uploader(browserFetch);
const attachments: Attachments = new Attachments(browser, (file, progress) => upload(file, progress, chat.temporary), {
  limits: () => server.capabilities?.limits ?? {},
  isSupported: (item) => {
    if (item.resource !== undefined) return true;
    const input = { mime: item.mime, given: documentModeOf(item), scan: item.scan };
    const fit = requiredModality(input) === null || isPdf(item) ? null : fits.get(item.blob, answering()?.name);
    if (fit === null) return accepts(answering(), input, writesDown());
    return fit.became !== "refused" && !fits.beyondRoom(attachments.items, answering()?.name).keys.has(item.key);
  },
  documentMode: documentModeOf,
  reportProblem: (sentence) => notices.show(sentence),
  after: (milliseconds, action) => clock.after(milliseconds, action),
  inspect: async (blob) => {
    const answer = await client.inspect(blob);
    // If this fails, sending the message tells.
    if (answer.kind !== "ok") return { problem: "", scan: false };
    const { code, message, scan } = answer.value;
    return { problem: code === "" ? "" : problems().told(code, message), scan };
  },
  thumbnailProblem: async (blob) => {
    const answer = await client.thumbnail(blob);
    return answer.kind === "refused" && answer.code === "no_thumbnail" ? answer.message : "";
  },
});
attachments.changed = () => (draft.changedUnobserved = true);
const announcer = new Announcer(clock, () => preferences.page.announce);
const notices = new Notices(clock);
const preferences = new Preferences(browser, new UserSettingsClient(browserFetch), clock, (sentence) => notices.show(sentence));
const choices = new Choices({
  preferences,
  save: (conversation, options) => client.change(conversation, { options }),
  reportProblem: (answer) => notices.show(problemOf(answer)),
  isLoaded: (model) => loadedModel(model, { models: server.capabilities?.models ?? [], aliases: server.capabilities?.aliases ?? {} }) !== null,
});
const shell = new Shell((hash) => (location.hash = hash));
const search = new Search(client, clock);
const build = document.querySelector<HTMLMetaElement>('meta[name="duologue-build"]')?.content ?? null;
const server = new Server(browserFetch, clock, build);
const chosen = new ChosenModel({ choices, preferences, server, list: () => request(browserFetch, "v1/model/list") });

const chat: Chat = new Chat({
  client,
  stream,
  clock,
  draft,
  attachments,
  announcer,
  notices,
  choices,
  titleOf: (model) => server.title(model),
  options: () => optionsFor(chosen.model, server.capabilities?.default_model ?? null, choices.current),
  systemPrompt: () => preferences.system,
  onFailure: () => void server.refresh(),
  onLoaded: (conversation) => list.add(conversation),
  // A new chat gets its id after a delay; a user who has opened another screen meanwhile stays there.
  navigate: (conversation, stays = conversation !== null) => {
    const { screen, conversation: there } = parseRoute(location.hash);
    if (stays && screen !== "chat") shell.lastChatAddress = chatAddress(conversation);
    else if (screen !== "chat" || there !== conversation) shell.navigate(chatAddress(conversation));
  },
});

const list: ConversationList = new ConversationList({
  client,
  folders: new FolderClient(browserFetch),
  storage: browser,
  clock,
  wall: () => Date.now(),
  notices,
  onDeleted: (id) => {
    const open = chat.id === id;
    chat.onRemoved(id);
    draft.delete(id);
    attachments.delete(id);
    return open;
  },
  onRestored: (id) => (location.hash = chatAddress(id)),
  onUpdated: (conversation) => chat.onUpdated(conversation),
});

const voice = new Voice(() => ({
  chat,
  chosen,
  preferences,
  client,
  fetch: browserFetch,
  clock,
  storage: browser,
  acceptsAudio: () => answering()?.modalities?.includes("audio") ?? false,
  upload: (file, progress) => upload(file, progress, chat.temporary),
  reportProblem: (sentence) => notices.show(sentence),
  onLoadFailure: () => notices.show(words().partMissing),
}));

/** Syncs the draft with the server. Loaded once the server is reachable; nothing waits for it. */
let draftSync: DraftSync | null = null;

async function startDraftSync(): Promise<void> {
  const [{ DraftSync }, { DraftClient }] = await Promise.all([import("./chat/draft/draft_sync"), import("./wire/chat/drafts")]);
  draftSync ??= new DraftSync({
    client: new DraftClient(browserFetch),
    clock,
    wall: () => Date.now(),
    storage: browser,
    draft,
    attachments,
    conversation: chat.id,
    notices,
    mayStore: ()  => chat.id !== null || !chat.temporary,
  });
  draftSync.resume();
}

const feed = openFeed(stream, {
  onEvent: (event) => {
    if (event.type === "models") return void server.refreshAfterChange();
    draftSync?.handleEvent(event);
    if (event.type === "draft") return;
    list.handleEvent(event);
    chat.handleEvent(event);
  },
  onFailure: () => void server.refresh(),
});

// As in chat/legacy_conversation.ts, which is loaded only if this key exists.
const LEGACY_KEY = "duologue.conversation";

/** Imports a conversation that an early version kept in this tab, once. */
async function importLegacy(): Promise<void> {
  if (tab.get(LEGACY_KEY) === null) return;
  const { forgetLegacy, legacyConversation } = await import("./chat/legacy_conversation");
  const file = legacyConversation(tab, Date.now());
  if (file === null) return;
  const answer = await client.import("conversation.jsonl", file.text);
  if (answer.kind !== "ok") return;
  forgetLegacy(tab);
  if (parseRoute(location.hash).conversation === null && chat.shown.length === 0) location.hash = chatAddress(answer.value.conversations[0] ?? file.id);
}

/** The user since this page was loaded. */
let person: string | null = null;
let abandoned = false;

/** Another user has logged in: removes everything of the previous one from the page and the browser. */
function resetForNewUser(): void {
  abandoned = true;
  clearStorage([() => localStorage, () => sessionStorage]);
  location.reload();
}

/** The server is reachable, for the first time or again. */
function connect(): void {
  const { user = person } = server.capabilities?.auth ?? {};
  if (user !== null && (isDifferentUser(browser, new URL("./", location.href).pathname, user) || (person ?? user) !== user)) return resetForNewUser();
  person = user;
  void importLegacy();
  void preferences.load().then(() => preferences.setTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone ?? ""));
  void list.load();
  feed.resume();
  chat.resume();
  attachments.resume();
  startDraftSync().catch(() => {
    // The draft is stored in this browser in any case.
  });
}

// Browsers open few connections to one server, so hidden tabs close theirs after a while.
const PAUSE_DELAY_MS = 20_000;
let cancelPause: (() => void) | null = null;

function onVisibilityChange(): void {
  cancelPause?.();
  cancelPause = null;
  if (document.visibilityState === "visible") {
    void server.refresh();
    feed.resume();
    chat.resume();
  } else {
    if (!abandoned) draftSync?.flushOnExit();
    cancelPause = clock.after(PAUSE_DELAY_MS, () => {
      feed.pause();
      chat.pause();
    });
  }
}

function onHashChange(): void {
  const place = shell.onHashChange(location.hash);
  notices.enter(place.screen === "chat" ? chatAddress(place.conversation) : screenAddress(place.screen, place.section));
  if (place.screen === "chat") void chat.open(place);
}

addEventListener("hashchange", onHashChange);
addEventListener("online", onVisibilityChange);
addEventListener("pagehide", ({ persisted }) => {
  if (abandoned) return;
  // A page in the back/forward cache continues later.
  if (!persisted) chat.saveUnsent();
  preferences.flushOnExit();
  draftSync?.flushOnExit();
});
document.addEventListener("visibilitychange", onVisibilityChange);

// After everything urgent.
addEventListener("load", () => void registerWorker(navigator.serviceWorker, build));

void server.refresh();
onHashChange();
const context = { shell, chat, choices, chosen, draft, attachments, fits, list, search, notices, announcer, server, preferences, voice, storage: browser, client, clock, fetch: browserFetch, stream, resetForNewUser };
// Load the language before the first paint, so that no English flashes; on failure the page is in English.
void setLanguage(preferences.page.language || preferredLanguage(navigator.languages)).then(() => mount(App, { target: document.getElementById("page")!, props: { context, connect } }));
