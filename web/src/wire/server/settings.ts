// User settings and generation options. Types and client.
import type { Language } from "../../language/language.svelte";
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

/** Sampling parameters by the server's names; absent fields are inherited. */
export type Sampling = Readonly<Record<string, number | string | readonly string[] | boolean>>;

export type Effort = "low" | "medium" | "high";

/** Generation options. Absent fields are inherited: run, conversation, settings, operator defaults, engine. */
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
  /** Empty: the browser's language. */
  readonly language: "" | Language;
  /** Show replies while they are generated. */
  readonly streaming: boolean;
  readonly enter_sends: boolean;
  /** Pasted text of at least this many characters becomes a file; 0 is never. */
  readonly paste_as_file: number;
  readonly documents: "auto" | "text" | "pages";
  readonly show_figures: boolean;
  readonly thinking_open: boolean;
  readonly wrap_code: boolean;
  readonly text_size: "small" | "normal" | "large";
  readonly reading_width: "normal" | "wide";
  /** What a screen reader announces of a running reply. */
  readonly announce: "ends" | "sentences" | "off";
  /** Read replies aloud while they are generated. */
  readonly voice_response: boolean;
  /** Voice id; empty: the server's default. */
  readonly voice: string;
  readonly voice_speed: number;
  /** Push-to-talk in calls. */
  readonly hold_to_talk: boolean;
  /** Id of the face in calls; empty: the first one. */
  readonly face: string;
  readonly show_face: boolean;
  /** In calls the server renders it as video, where it can. */
  readonly rendered_face: boolean;
  /** Custom shortcuts by action; an empty string removes one. */
  readonly shortcuts: Readonly<Record<string, string>>;
}

/** As stored: fields that were never set are absent. */
export interface Settings {
  readonly options?: GenerationOptions;
  readonly system?: string;
  /** IANA time zone. */
  readonly zone?: string;
  readonly page?: Partial<PagePreferences>;
}

type Nullable<Value> = { readonly [Name in keyof Value]?: Value[Name] extends object | undefined ? Nullable<Value[Name]> | null : Value[Name] | null };
/** JSON merge patch: absent fields stay, null removes. */
export type Changes = Nullable<Settings>;

export class UserSettingsClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  read(): Promise<Answer<Settings>> {
    return request(this.#fetch, "api/settings");
  }

  /** `leaving`: uses a keepalive request, which survives the page. */
  change(changes: Changes, leaving = false): Promise<Answer<Settings>> {
    if (!leaving) return sendJson(this.#fetch, "PATCH", "api/settings", changes);
    const init = { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify(changes) };
    return request(this.#fetch, "api/settings", { ...init, keepalive: true });
  }
}
