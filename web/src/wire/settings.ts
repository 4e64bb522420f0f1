// A user's settings on the server, and how replies are made: shapes and calls. Knows no page.
import { type Answer, ask, type Fetch, tell } from "./transport/http";

/** How the next token is chosen; names as the server's. What is absent is inherited. */
export type Sampling = Readonly<Record<string, number | string | readonly string[] | boolean>>;

export type Effort = "low" | "medium" | "high";

/** How replies are made; absent is inherited: run, conversation, settings, the operator's first values, the engine. */
export interface GenerationOptions {
  readonly model?: string;
  readonly sampling?: Sampling;
  readonly stop?: readonly string[];
  readonly thinking?: boolean;
  readonly effort?: Effort;
  readonly max_turns?: number;
  readonly tools?: boolean;
  readonly servers?: Readonly<Record<string, boolean>>;
}

export type Theme = "system" | "light" | "dark";

export interface PagePreferences {
  readonly theme: Theme;
  /** Empty: as the browser says. */
  readonly language: "" | "en" | "de";
  /** Replies are shown while they are written. */
  readonly streaming: boolean;
  readonly enter_sends: boolean;
  /** Characters from which a pasted text becomes a file; 0 is never. */
  readonly paste_as_file: number;
  readonly documents: "auto" | "text" | "pages";
  readonly show_figures: boolean;
  readonly thinking_open: boolean;
  readonly wrap_code: boolean;
  readonly text_size: "small" | "normal" | "large";
  readonly reading_width: "normal" | "wide";
  /** What is read out of a reply while it is written. */
  readonly announce: "ends" | "sentences" | "off";
  /** Replies are read out while they are written. */
  readonly voice_response: boolean;
  /** Who speaks; empty: the server's choice. */
  readonly voice: string;
  readonly voice_speed: number;
  /** In a call one holds a button to talk. */
  readonly hold_to_talk: boolean;
  /** Keys of actions, where they are not the usual ones; empty takes them away. */
  readonly shortcuts: Readonly<Record<string, string>>;
}

/** As it is kept: what was never chosen is absent. */
export interface Settings {
  readonly options?: GenerationOptions;
  readonly system?: string;
  /** Where the user is, as IANA names it. */
  readonly zone?: string;
  readonly page?: Partial<PagePreferences>;
}

type Nullable<Value> = { readonly [Name in keyof Value]?: Value[Name] extends object | undefined ? Nullable<Value[Name]> | null : Value[Name] | null };
/** A merge patch: what is absent stays, null takes away. */
export type Changes = Nullable<Settings>;

export class UserSettingsClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  read(): Promise<Answer<Settings>> {
    return ask(this.#fetch, "api/settings");
  }

  /** `leaving`: it goes on though the page that asked is gone. */
  change(changes: Changes, leaving = false): Promise<Answer<Settings>> {
    if (!leaving) return tell(this.#fetch, "PATCH", "api/settings", changes);
    const init = { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify(changes) };
    return ask(this.#fetch, "api/settings", { ...init, keepalive: true });
  }
}
