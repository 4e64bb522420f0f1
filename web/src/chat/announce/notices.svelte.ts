// A short message about what just happened (a toast), with at most one action. The next one replaces it.
import type { Clock } from "../../wire/transport/clock";

export interface Notice {
  readonly text: string;
  readonly action: { readonly label: string; readonly run: () => void } | null;
}

const DURATION_MS = 10_000;

export class Notices {
  readonly #clock: Clock;
  #current = $state.raw<Notice | null>(null);
  #cancelTimer: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get current(): Notice | null {
    return this.#current;
  }

  show(text: string, action: Notice["action"] = null): void {
    this.#current = { text, action };
    this.hold(false);
  }

  /** Stops the timeout while the pointer or the focus is on it. */
  hold(isHeld: boolean): void {
    this.#cancelTimer?.();
    this.#cancelTimer = isHeld || !this.#current ? null : this.#clock.after(DURATION_MS, () => this.clear());
  }

  clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#current = null;
  }
}
