// What the server says of itself, kept fresh while it is not ready. Owns when to ask; knows no page.
import { shell as words } from "../language/en/shell";
import type { Clock } from "../wire/transport/clock";
import type { Fetch } from "../wire/transport/http";
import { type Capabilities, fetchCapabilities, login, type Model, type ServerState } from "../wire/server";

/** "asking" before the first answer; "locked" when a key is needed; "unreachable" when nobody answers. */
export type Standing = ServerState | "asking" | "locked" | "unreachable";

const POLL = 1000;
const SLOWEST_POLL = 5000;
const STANDINGS = { unauthorized: "locked", refused: "failed", unreachable: "unreachable" } as const;

export class Server {
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  #standing = $state<Standing>("asking");
  #detail = $state("");
  #capabilities = $state.raw<Capabilities | null>(null);
  #outdated = $state(false);
  readonly #build: string | null;
  #asking: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;
  #failures = 0;

  /** `build` is this page's own, null where it has none. */
  constructor(fetch: Fetch, clock: Clock, build: string | null = null) {
    this.#fetch = fetch;
    this.#clock = clock;
    this.#build = build;
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** The server's own sentence about its state, or why it cannot be asked. */
  get detail(): string {
    return this.#detail;
  }

  /** The last answer; stays while the server is away. */
  get capabilities(): Capabilities | null {
    return this.#capabilities;
  }

  /** The server has another build of the page than this one. */
  get outdated(): boolean {
    return this.#outdated;
  }

  /** The model called `name`, or else the default one. */
  model(name: string): Model | null {
    const { models = [], default_model: standard } = this.#capabilities ?? {};
    const called = (wanted: string | null | undefined) => models.find((model) => model.name === wanted);
    return called(name) ?? called(standard) ?? models[0] ?? null;
  }

  /** Ask now; and again, by itself, until the server is ready. */
  refresh(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => (this.#asking = null));
    return this.#asking;
  }

  /** Log in; gives a sentence when that fails, else null. */
  async login(key: string): Promise<string | null> {
    const answer = await login(this.#fetch, key);
    if (answer.kind === "unreachable") return words().noAnswer;
    if (answer.kind !== "ok") return answer.message;
    // What was asked before the login says nothing of it.
    await this.#asking;
    await this.refresh();
    return this.#standing === "locked" ? words().noCookie : null;
  }

  async #ask(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const answer = await fetchCapabilities(this.#fetch, this.#build);
    if (answer.kind === "ok") {
      this.#capabilities = answer.value;
      this.#standing = answer.value.state;
      this.#detail = answer.value.detail;
      this.#outdated = answer.value.outdated ?? false;
    } else {
      this.#standing = STANDINGS[answer.kind];
      this.#detail = answer.kind === "unreachable" ? "" : answer.message;
    }
    this.#failures = this.#standing === "unreachable" || this.#standing === "failed" ? this.#failures + 1 : 0;
    if (this.#standing === "ready" || this.#standing === "locked") return;
    const wait = this.#standing === "empty" ? SLOWEST_POLL : Math.min(POLL * Math.max(1, this.#failures), SLOWEST_POLL);
    this.#cancelTimer = this.#clock.after(wait, () => void this.refresh());
  }
}
