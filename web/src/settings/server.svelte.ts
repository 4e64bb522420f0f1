// The server's capabilities and status, polled until it and its voice are ready. Owns the polling.
import { shell as words } from "../language/en/shell/shell";
import { modelTitle } from "../models/model_titles";
import type { Clock } from "../wire/transport/clock";
import type { Fetch } from "../wire/transport/http";
import { type Capabilities, fetchCapabilities, login, type Model, type ServerState } from "../wire/server/server";

/** "asking": before the first answer; "locked": a login is needed; "unreachable": no answer. */
export type ServerStatus = ServerState | "asking" | "locked" | "unreachable";

const POLL_MS = 1000;
const SLOWEST_POLL_MS = 5000;
const ANSWER_STATUS = { unauthorized: "locked", refused: "failed", unreachable: "unreachable" } as const;

export class Server {
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  #status = $state<ServerStatus>("asking");
  #detail = $state("");
  #capabilities = $state.raw<Capabilities | null>(null);
  #outdated = $state(false);
  readonly #build: string | null;
  #refreshing: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;
  #failures = 0;

  /** `build` identifies this page's build; null in development. */
  constructor(fetch: Fetch, clock: Clock, build: string | null = null) {
    this.#fetch = fetch;
    this.#clock = clock;
    this.#build = build;
  }

  get status(): ServerStatus {
    return this.#status;
  }

  /** The server's sentence about its state, or why it cannot be reached. */
  get detail(): string {
    return this.#detail;
  }

  /** Last answer, kept while the server is away. */
  get capabilities(): Capabilities | null {
    return this.#capabilities;
  }

  /** The server has a newer build of the page. */
  get outdated(): boolean {
    return this.#outdated;
  }

  /** The model with this name, else the default one. */
  model(name: string): Model | null {
    const { models = [], default_model: defaultModel } = this.#capabilities ?? {};
    const find = (modelName: string | null | undefined) => models.find((model) => model.name === modelName);
    return find(name) ?? find(defaultModel) ?? models[0] ?? null;
  }

  /** The name of a model as people write it. */
  title(name: string): string {
    return modelTitle(name, this.#capabilities ?? { models: [] });
  }

  /** Fetches now, and repeats until the server and its voice are ready. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#fetchState().finally(() => (this.#refreshing = null));
    return this.#refreshing;
  }

  /** Fetches what has just changed: an answer that is under way may be older. */
  async refreshAfterChange(): Promise<void> {
    await this.#refreshing;
    await this.refresh();
  }

  /** Logs in. Returns a sentence if that fails, else null. */
  async login(key: string): Promise<string | null> {
    const answer = await login(this.#fetch, key);
    if (answer.kind === "unreachable") return words().noAnswer;
    if (answer.kind !== "ok") return answer.message;
    await this.refreshAfterChange();
    return this.#status === "locked" ? words().noCookie : null;
  }

  async #fetchState(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const answer = await fetchCapabilities(this.#fetch, this.#build);
    if (answer.kind === "ok") {
      this.#capabilities = answer.value;
      this.#status = answer.value.state;
      this.#detail = answer.value.detail;
      this.#outdated = answer.value.outdated ?? false;
    } else {
      this.#status = ANSWER_STATUS[answer.kind];
      this.#detail = answer.kind === "unreachable" ? "" : answer.message;
    }
    this.#failures = this.#status === "unreachable" || this.#status === "failed" ? this.#failures + 1 : 0;
    // The voice loads after the model, perhaps before this page hears the server's events: one that is missed would leave
    // the Call button off for good.
    const isComplete = this.#status === "ready" && this.#capabilities?.voice?.state !== "loading";
    if (isComplete || this.#status === "locked") return;
    const delay = this.#status === "empty" ? SLOWEST_POLL_MS : Math.min(POLL_MS * Math.max(1, this.#failures), SLOWEST_POLL_MS);
    this.#cancelTimer = this.#clock.after(delay, () => void this.refresh());
  }
}
