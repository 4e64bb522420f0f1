// The page's shared state for all components, created in main.ts and provided by App.
import { createContext } from "svelte";

import type { Announcer } from "../../chat/announce/announcer.svelte";
import type { Attachments } from "../../chat/draft/attachments.svelte";
import type { Chat } from "../../chat/chat.svelte";
import type { Choices } from "../../chat/choices.svelte";
import type { ChosenModel } from "../../chat/chosen_model.svelte";
import type { MediaFits } from "../../chat/draft/media_fits.svelte";
import type { Draft } from "../../chat/draft/draft.svelte";
import type { ConversationList } from "../../chat/list/conversation_list.svelte";
import type { Notices } from "../../chat/announce/notices.svelte";
import type { Search } from "../../chat/list/search.svelte";
import type { Preferences } from "../../settings/preferences.svelte";
import type { Server } from "../../settings/server.svelte";
import type { TextStorage } from "../../settings/storage";
import type { Actions } from "../../shell/actions";
import type { Shell } from "../../shell/shell.svelte";
import type { Voice } from "../../voice/voice.svelte";
import type { Clock } from "../../wire/transport/clock";
import type { ConversationClient } from "../../wire/chat/conversations";
import type { EventStream, StreamListener } from "../../wire/transport/event_stream";
import type { Fetch } from "../../wire/transport/http";

export interface PageContext {
  readonly shell: Shell;
  /** Available once the page is mounted. */
  readonly actions: () => Actions;
  readonly chat: Chat;
  readonly choices: Choices;
  readonly chosen: ChosenModel;
  readonly draft: Draft;
  readonly attachments: Attachments;
  readonly fits: MediaFits;
  readonly list: ConversationList;
  readonly search: Search;
  readonly notices: Notices;
  readonly announcer: Announcer;
  readonly server: Server;
  readonly preferences: Preferences;
  readonly voice: Voice;
  /** Settings of this device. */
  readonly storage: TextStorage;
  readonly client: ConversationClient;
  readonly clock: Clock;
  /** For screens that create API clients of their own. */
  readonly fetch: Fetch;
  readonly stream: (address: string, listener: StreamListener) => EventStream;
  /** Removes everything of the current user from the browser and reloads the page. */
  readonly resetForNewUser: () => void;
}

export const [pageContext, setPageContext] = createContext<PageContext>();
