// The user's preferences, stored by the server for every device and mirrored in this browser, for the first paint and
// while the server is away. Operator defaults apply below them, and the page's defaults below those. `public/theme.js`
// reads the same key before the first paint.
import { LANGUAGES } from "../language/language.svelte";
import { isObject, type JsonObject } from "../wire/json";
import type { Clock } from "../wire/transport/clock";
import { type Answer, problemOf } from "../wire/transport/http";
import type { Changes, GenerationOptions, PagePreferences, Settings, Theme } from "../wire/server/settings";
import type { TextStorage } from "./storage";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const DEFAULTS: PagePreferences = {
  theme: "system",
  language: "",
  streaming: true,
  enter_sends: true,
  paste_as_file: 2500,
  documents: "auto",
  show_figures: false,
  thinking_open: false,
  wrap_code: false,
  text_size: "normal",
  reading_width: "normal",
  announce: "ends",
  voice_response: false,
  voice: "",
  voice_speed: 1,
  hold_to_talk: false,
  face: "",
  show_face: true,
  rendered_face: false,
  shortcuts: {},
};

export interface SettingsClient {
  read(): Promise<Answer<Settings>>;
  /** `leaving`: the page is being unloaded and cannot wait for the answer. */
  change(changes: Changes, leaving?: boolean): Promise<Answer<Settings>>;
}

const KEY = "duologue.preferences";
const UNSENT_KEY = "duologue.preferences.unsent";
/** The server's state when a page was unloaded with unsent changes, whose arrival it could not wait for. */
const EXIT_KEY = "duologue.preferences.parted";
/** Later changes are sent together after this time (milliseconds); the first one at once. */
const SEND_INTERVAL_MS = 400;
/** Retry delay after a server error, milliseconds. */
const RETRY_MS = 5000;

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Changes sent while the page was being unloaded, and the server's state before. */
interface ExitSnapshot {
  readonly sent: JsonObject;
  readonly known: JsonObject;
}

/** Applies a JSON merge patch (RFC 7396). `keepsNulls` composes two patches instead of applying one. */
export function mergePatch(old: JsonObject, patch: JsonObject, keepsNulls = false): JsonObject {
  const next: Record<string, unknown> = { ...old };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null && !keepsNulls) delete next[name];
    else if (isObject(value)) next[name] = mergePatch(isObject(next[name]) ? next[name] : {}, value, keepsNulls);
    else next[name] = value;
  }
  return next;
}

/** Drops values of the wrong type or outside the choices: storage and operator defaults may hold anything. */
function validPage(page: JsonObject): Partial<PagePreferences> {
  const choices: JsonObject = { theme: THEMES, language: ["", ...Object.keys(LANGUAGES)], documents: ["auto", "text", "pages"], text_size: ["small", "normal", "large"], reading_width: ["normal", "wide"], announce: ["ends", "sentences", "off"] };
  const isValid = ([name, value]: [string, unknown]) => {
    const allowed = choices[name] as readonly unknown[] | undefined;
    return allowed ? allowed.includes(value) : typeof value === typeof DEFAULTS[name as keyof PagePreferences] && value !== null;
  };
  return Object.fromEntries(Object.entries(page).filter(isValid));
}

function read(storage: TextStorage, key: string): JsonObject {
  try {
    const stored: unknown = JSON.parse(storage.get(key) ?? "{}");
    return isObject(stored) ? stored : {};
  } catch {
    // Not valid JSON: start with defaults.
    return {};
  }
}

/** `changes` without the value at a path like "options.sampling.top_p"; null if there is none. */
function omitPath(changes: JsonObject, path: string): JsonObject | null {
  const [name = "", ...rest] = path.split(/[.[]/);
  if (!(name in changes)) return null;
  const { [name]: inner, ...others } = changes;
  if (rest.length === 0 || !isObject(inner)) return others;
  const inside = omitPath(inner, rest.join("."));
  if (inside === null) return null;
  return Object.keys(inside).length === 0 ? others : { ...others, [name]: inside };
}

/** `changes` without those that need not be sent again: still as they were `sent` on unload, while the server's value
 * has changed since. Either they arrived, or a later change elsewhere replaced them. */
function unacknowledged(changes: JsonObject, { sent, known }: ExitSnapshot, now: JsonObject): JsonObject {
  const rest: [string, unknown][] = [];
  for (const [name, value] of Object.entries(changes)) {
    if (isObject(value)) {
      const inner = unacknowledged(value, { sent: objectOf(sent[name]), known: objectOf(known[name]) }, objectOf(now[name]));
      if (Object.keys(inner).length > 0) rest.push([name, inner]);
    } else if (value !== sent[name] || JSON.stringify(known[name]) === JSON.stringify(now[name])) rest.push([name, value]);
  }
  return Object.fromEntries(rest);
}

/** The server failed, not the change: it can be sent again unchanged. */
function isRetryable(answer: Answer<unknown>): boolean {
  return answer.kind === "refused" && (answer.status >= 500 || answer.status === 408 || answer.status === 429);
}

/** The format of an early version, as unsent changes. */
function legacyChanges({ theme, thinking, model }: JsonObject): Changes {
  return {
    ...(THEMES.includes(theme as Theme) ? { page: { theme: theme as Theme } } : {}),
    options: { ...(thinking === true ? { thinking } : {}), ...(typeof model === "string" && model !== "" ? { model } : {}) },
  };
}

/** "waiting": the server is unreachable; changes are sent when it answers. */
export type Saving = "untouched" | "saving" | "saved" | "waiting";

export interface RefusedChange {
  readonly message: string;
  /** The field at fault, like "options.sampling.top_p"; empty if the server did not name one. */
  readonly param: string;
}

export class Preferences {
  readonly #storage: TextStorage;
  readonly #client: SettingsClient;
  readonly #clock: Clock;
  readonly #reportProblem: (sentence: string) => void;
  /** Last known state on the server. */
  #saved = $state.raw<Settings>({});
  /** Changes the server has not confirmed. */
  #unsaved = $state.raw<Changes>({});
  #defaults = $state.raw<Settings>({});
  #saving = $state<Saving>("untouched");
  #refusal = $state.raw<RefusedChange | null>(null);
  #cancelTimer: (() => void) | null = null;
  #sending = false;
  #sentAt = -Infinity;
  #exitSnapshot: ExitSnapshot | null = null;
  /** Counts answers to changes: a read that began before the latest answer is stale. */
  #answerCount = 0;

  readonly #own = $derived(mergePatch(this.#saved as JsonObject, this.#unsaved as JsonObject) as Settings);
  readonly #whole = $derived(mergePatch(this.#defaults as JsonObject, this.#own as JsonObject) as Settings);
  readonly #page = $derived<PagePreferences>({ ...DEFAULTS, ...validPage((this.#whole.page ?? {}) as JsonObject) });

  /** `reportProblem` is called when the server refuses a change. */
  constructor(storage: TextStorage, client: SettingsClient, clock: Clock, reportProblem: (sentence: string) => void) {
    this.#storage = storage;
    this.#client = client;
    this.#clock = clock;
    this.#reportProblem = reportProblem;
    const stored = read(storage, KEY);
    if ("theme" in stored || "thinking" in stored || "model" in stored) this.#unsaved = legacyChanges(stored);
    else {
      this.#saved = stored as Settings;
      this.#unsaved = read(storage, UNSENT_KEY) as Changes;
      if (storage.get(EXIT_KEY) !== null) this.#exitSnapshot = { sent: this.#unsaved as JsonObject, known: read(storage, EXIT_KEY) };
    }
  }

  /** The page's preferences, with defaults for the rest. */
  get page(): PagePreferences {
    return this.#page;
  }

  /** Default generation options. */
  get options(): GenerationOptions {
    return this.#whole.options ?? {};
  }

  /** System prompt of new conversations. */
  get system(): string {
    return this.#whole.system ?? "";
  }

  /** Only the user's own settings. */
  get own(): Settings {
    return this.#own;
  }

  /** The operator's defaults. */
  get defaults(): Settings {
    return this.#defaults;
  }

  set defaults(defaults: Settings) {
    this.#defaults = defaults;
  }

  /** Progress of saving. */
  get saving(): Saving {
    return this.#saving;
  }

  /** The last refused change, until the next change. */
  get refusal(): RefusedChange | null {
    return this.#refusal;
  }

  /** Applies changes locally at once and sends them soon. */
  change(changes: Changes): void {
    this.#unsaved = mergePatch(this.#unsaved as JsonObject, changes as JsonObject, true) as Changes;
    this.#saving = "saving";
    this.#refusal = null;
    this.#store();
    this.#scheduleSend(this.#clock.now() - this.#sentAt > SEND_INTERVAL_MS && !this.#sending ? 0 : SEND_INTERVAL_MS);
  }

  /** The page is being unloaded: sends unsaved changes, and stores the server's state for the next page to compare. */
  flushOnExit(): void {
    if (Object.keys(this.#unsaved).length === 0) return;
    this.#storage.put(EXIT_KEY, JSON.stringify(this.#saved));
    void this.#client.change(this.#unsaved, true);
  }

  /** Loads the server's state and sends what was changed while it was away. */
  async load(): Promise<void> {
    const answerCount = this.#answerCount;
    const answer = await this.#client.read();
    if (answer.kind !== "ok" || answerCount !== this.#answerCount) return;
    this.#saved = answer.value;
    if (this.#exitSnapshot) this.#unsaved = unacknowledged(this.#unsaved as JsonObject, this.#exitSnapshot, answer.value as JsonObject) as Changes;
    this.#exitSnapshot = null;
    this.#store();
    if (Object.keys(this.#unsaved).length > 0) this.#scheduleSend();
  }

  /** Sets the browser's IANA time zone on the server, which uses it for dates in prompts. Sent only if it differs. */
  async setTimeZone(zone: string): Promise<void> {
    if (zone === "" || this.#saved.zone === zone) return;
    const answer = await this.#client.change({ zone });
    if (answer.kind !== "ok") return;
    this.#answerCount++;
    // Only that: the answer may be older than one to a change that was sent later, and would take it back.
    this.#saved = { ...this.#saved, zone };
    this.#store();
  }

  #store(): void {
    this.#storage.put(KEY, JSON.stringify(this.#own));
    this.#storage.put(UNSENT_KEY, Object.keys(this.#unsaved).length === 0 ? null : JSON.stringify(this.#unsaved));
    if (this.#exitSnapshot === null) this.#storage.put(EXIT_KEY, null);
  }

  #scheduleSend(delay = SEND_INTERVAL_MS): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(delay, () => void this.#send());
  }

  async #send(): Promise<void> {
    if (this.#sending) return this.#scheduleSend();
    const changes = this.#unsaved;
    if (Object.keys(changes).length === 0) return;
    this.#sending = true;
    this.#sentAt = this.#clock.now();
    const answer = await this.#client.change(changes);
    this.#sending = false;
    // Unsent changes stay here and go with the next change or the next start.
    if (answer.kind === "unreachable" || answer.kind === "unauthorized" || isRetryable(answer)) {
      this.#saving = "waiting";
      if (isRetryable(answer)) this.#scheduleSend(RETRY_MS);
      return;
    }
    if (answer.kind === "ok") {
      this.#answerCount++;
      this.#saved = answer.value;
      if (this.#unsaved === changes) this.#unsaved = {};
    } else this.#dropRefused(changes, problemOf(answer), answer.param ?? "");
    this.#store();
    if (Object.keys(this.#unsaved).length > 0) this.#scheduleSend();
    else if (this.#refusal === null) this.#saving = "saved";
    else this.#saving = "untouched";
  }

  /** Drops the refused field and sends the rest again; drops everything if no field was named. */
  #dropRefused(changes: Changes, message: string, param: string): void {
    this.#refusal = { message, param };
    this.#reportProblem(message);
    const rest = omitPath(this.#unsaved as JsonObject, param);
    if (rest !== null) this.#unsaved = rest as Changes;
    else if (this.#unsaved === changes) this.#unsaved = {};
  }
}
