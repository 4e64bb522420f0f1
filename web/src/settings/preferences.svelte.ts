// What this person likes: kept by the server for every device, and in this browser so that it is there at the first
// paint and while the server is away. Below it lie the operator's first values, and below those the page's own.
// `public/theme.js` reads the same key before the first paint.
import type { Clock } from "../wire/transport/clock";
import { type Answer, problemOf } from "../wire/transport/http";
import type { Changes, GenerationOptions, PagePreferences, Settings, Theme } from "../wire/settings";
import type { TextStorage } from "./storage";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const FIRST: PagePreferences = {
  theme: "system",
  language: "",
  streaming: true,
  enter_sends: true,
  paste_as_file: 2500,
  documents: "auto",
  show_figures: true,
  thinking_open: false,
  wrap_code: false,
  text_size: "normal",
  reading_width: "normal",
  announce: "ends",
  voice_response: false,
  voice: "",
  voice_speed: 1,
  hold_to_talk: false,
  shortcuts: {},
};

export interface SettingsClient {
  read(): Promise<Answer<Settings>>;
  /** `leaving`: the page is on its way out, and waits for no answer. */
  change(changes: Changes, leaving?: boolean): Promise<Answer<Settings>>;
}

const KEY = "duologue.preferences";
const UNSENT = "duologue.preferences.unsent";
/** What the server had when a page went away with changes whose arrival it could not wait for. */
const PARTED = "duologue.preferences.parted";
/** Changes that follow each other are sent together, milliseconds; the first of them goes at once. */
const SETTLE = 400;
/** A server that is in trouble is told again after so many milliseconds. */
const AGAIN = 5000;

type Plain = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const plainOf = (value: unknown): Plain => (isPlain(value) ? value : {});

/** Changes that were sent by a page that went away, and what the server had then. */
interface Parted {
  readonly sent: Plain;
  readonly was: Plain;
}

/** RFC 7396. */
export function merged(old: Plain, patch: Plain, keepsNulls = false): Plain {
  const next: Record<string, unknown> = { ...old };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null && !keepsNulls) delete next[name];
    else if (isPlain(value)) next[name] = merged(isPlain(next[name]) ? next[name] : {}, value, keepsNulls);
    else next[name] = value;
  }
  return next;
}

/** Values of another kind than the page's own are not taken: somebody else may have written them. */
function fitting(page: Plain): Partial<PagePreferences> {
  const choices: Plain = { theme: THEMES, language: ["", "en", "de"], documents: ["auto", "text", "pages"], text_size: ["small", "normal", "large"], reading_width: ["normal", "wide"], announce: ["ends", "sentences", "off"] };
  const fits = ([name, value]: [string, unknown]) => {
    const allowed = choices[name] as readonly unknown[] | undefined;
    return allowed ? allowed.includes(value) : typeof value === typeof FIRST[name as keyof PagePreferences] && value !== null;
  };
  return Object.fromEntries(Object.entries(page).filter(fits));
}

function read(storage: TextStorage, key: string): Plain {
  try {
    const kept: unknown = JSON.parse(storage.get(key) ?? "{}");
    return isPlain(kept) ? kept : {};
  } catch {
    // Not written by us: start afresh.
    return {};
  }
}

/** `changes` without what is at a path like "options.sampling.top_p"; null where there is nothing at it. */
function without(changes: Plain, path: string): Plain | null {
  const [name = "", ...rest] = path.split(/[.[]/);
  if (!(name in changes)) return null;
  const { [name]: inner, ...others } = changes;
  if (rest.length === 0 || !isPlain(inner)) return others;
  const left = without(inner, rest.join("."));
  if (left === null) return null;
  return Object.keys(left).length === 0 ? others : { ...others, [name]: left };
}

/** `changes` without what is still as it was `sent`, where the server has something else now than it had then: it arrived, or
 * somebody has changed it since. */
function outstanding(changes: Plain, { sent, was }: Parted, now: Plain): Plain {
  const left: [string, unknown][] = [];
  for (const [name, value] of Object.entries(changes)) {
    if (isPlain(value)) {
      const inner = outstanding(value, { sent: plainOf(sent[name]), was: plainOf(was[name]) }, plainOf(now[name]));
      if (Object.keys(inner).length > 0) left.push([name, inner]);
    } else if (value !== sent[name] || JSON.stringify(was[name]) === JSON.stringify(now[name])) left.push([name, value]);
  }
  return Object.fromEntries(left);
}

/** Not the change is at fault: it can be sent again as it is. */
function isTrouble(answer: Answer<unknown>): boolean {
  return answer.kind === "refused" && (answer.status >= 500 || answer.status === 408 || answer.status === 429);
}

/** What an earlier version kept, as changes the server has not heard of. */
function former({ theme, thinking, model }: Plain): Changes {
  return {
    ...(THEMES.includes(theme as Theme) ? { page: { theme: theme as Theme } } : {}),
    options: { ...(thinking === true ? { thinking } : {}), ...(typeof model === "string" && model !== "" ? { model } : {}) },
  };
}

/** "waiting": the server does not answer, and what was changed is sent when it does. */
export type Saving = "untouched" | "saving" | "saved" | "waiting";

export interface RefusedChange {
  readonly message: string;
  /** Where it is, like "options.sampling.top_p"; empty where the server did not say. */
  readonly param: string;
}

export class Preferences {
  readonly #storage: TextStorage;
  readonly #client: SettingsClient;
  readonly #clock: Clock;
  readonly #reportProblem: (sentence: string) => void;
  /** What the server has, as far as is known. */
  #kept = $state.raw<Settings>({});
  /** What was changed here and is not there yet. */
  #changed = $state.raw<Changes>({});
  #defaults = $state.raw<Settings>({});
  #saving = $state<Saving>("untouched");
  #refused = $state.raw<RefusedChange | null>(null);
  #cancelTimer: (() => void) | null = null;
  #sending = false;
  #sentAt = -Infinity;
  #parted: Parted | null = null;
  /** Counts the server's answers to changes: what was read before one and comes after it is old. */
  #answers = 0;

  readonly #own = $derived(merged(this.#kept as Plain, this.#changed as Plain) as Settings);
  readonly #whole = $derived(merged(this.#defaults as Plain, this.#own as Plain) as Settings);
  readonly #page = $derived<PagePreferences>({ ...FIRST, ...fitting((this.#whole.page ?? {}) as Plain) });

  /** `complain` is told when the server will not keep something. */
  constructor(storage: TextStorage, client: SettingsClient, clock: Clock, reportProblem: (sentence: string) => void) {
    this.#storage = storage;
    this.#client = client;
    this.#clock = clock;
    this.#reportProblem = reportProblem;
    const kept = read(storage, KEY);
    if ("theme" in kept || "thinking" in kept || "model" in kept) this.#changed = former(kept);
    else {
      this.#kept = kept as Settings;
      this.#changed = read(storage, UNSENT) as Changes;
      if (storage.get(PARTED) !== null) this.#parted = { sent: this.#changed as Plain, was: read(storage, PARTED) };
    }
  }

  /** What was chosen, and the first values of the rest. */
  get page(): PagePreferences {
    return this.#page;
  }

  /** How replies are made, where nothing else is said. */
  get options(): GenerationOptions {
    return this.#whole.options ?? {};
  }

  /** The system prompt of new conversations. */
  get system(): string {
    return this.#whole.system ?? "";
  }

  /** Only what this person chose. */
  get own(): Settings {
    return this.#own;
  }

  /** The operator's first values. */
  get defaults(): Settings {
    return this.#defaults;
  }

  set defaults(defaults: Settings) {
    this.#defaults = defaults;
  }

  /** How far what was changed is. */
  get saving(): Saving {
    return this.#saving;
  }

  /** What the server would not keep, until something is changed again. */
  get refused(): RefusedChange | null {
    return this.#refused;
  }

  /** Change some of it: here at once, on the server as soon as can be. */
  change(changes: Changes): void {
    this.#changed = merged(this.#changed as Plain, changes as Plain, true) as Changes;
    this.#saving = "saving";
    this.#refused = null;
    this.#keep();
    this.#sendSoon(this.#clock.now() - this.#sentAt > SETTLE && !this.#sending ? 0 : SETTLE);
  }

  /** The page goes away: what is not there yet is sent now, and the next page will look whether it arrived. */
  part(): void {
    if (Object.keys(this.#changed).length === 0) return;
    this.#storage.put(PARTED, JSON.stringify(this.#kept));
    void this.#client.change(this.#changed, true);
  }

  /** Read what the server has. What was changed while it was away goes there. */
  async load(): Promise<void> {
    const answers = this.#answers;
    const answer = await this.#client.read();
    if (answer.kind !== "ok" || answers !== this.#answers) return;
    this.#kept = answer.value;
    if (this.#parted) this.#changed = outstanding(this.#changed as Plain, this.#parted, answer.value as Plain) as Changes;
    this.#parted = null;
    this.#keep();
    if (Object.keys(this.#changed).length > 0) this.#sendSoon();
  }

  /** Where this browser is, as IANA names it: the server reads its clock there. Told where the server has another. */
  async locate(zone: string): Promise<void> {
    if (zone === "" || this.#kept.zone === zone) return;
    const answer = await this.#client.change({ zone });
    if (answer.kind !== "ok") return;
    this.#answers++;
    this.#kept = answer.value;
    this.#keep();
  }

  #keep(): void {
    this.#storage.put(KEY, JSON.stringify(this.#own));
    this.#storage.put(UNSENT, Object.keys(this.#changed).length === 0 ? null : JSON.stringify(this.#changed));
    if (this.#parted === null) this.#storage.put(PARTED, null);
  }

  #sendSoon(wait = SETTLE): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(wait, () => void this.#send());
  }

  async #send(): Promise<void> {
    if (this.#sending) return this.#sendSoon();
    const sent = this.#changed;
    if (Object.keys(sent).length === 0) return;
    this.#sending = true;
    this.#sentAt = this.#clock.now();
    const answer = await this.#client.change(sent);
    this.#sending = false;
    // What cannot be sent stays here, and goes with the next change or the next start.
    if (answer.kind === "unreachable" || answer.kind === "unauthorized" || isTrouble(answer)) {
      this.#saving = "waiting";
      if (isTrouble(answer)) this.#sendSoon(AGAIN);
      return;
    }
    if (answer.kind === "ok") {
      this.#answers++;
      this.#kept = answer.value;
      if (this.#changed === sent) this.#changed = {};
    } else this.#dropRefused(sent, problemOf(answer), answer.param ?? "");
    this.#keep();
    if (Object.keys(this.#changed).length > 0) this.#sendSoon();
    else if (this.#refused === null) this.#saving = "saved";
    else this.#saving = "untouched";
  }

  /** What the server names goes, and the rest is sent again; where it names nothing, all of it goes. */
  #dropRefused(sent: Changes, message: string, param: string): void {
    this.#refused = { message, param };
    this.#reportProblem(message);
    const left = without(this.#changed as Plain, param);
    if (left !== null) this.#changed = left as Changes;
    else if (this.#changed === sent) this.#changed = {};
  }
}
