// A short message about what just happened (a toast), with at most one action. The next one replaces it, and one that
// belongs to a place disappears when that is left.
import type { Clock } from "../../wire/transport/clock";

export interface Notice {
  readonly text: string;
  readonly action: { readonly label: string; readonly run: () => void } | null;
  /** Address of the chat or screen it is about; null for one that is true everywhere. */
  readonly place: string | null;
}

const DURATION_MS = 10_000;

export class Notices {
  readonly #clock: Clock;
  #current = $state.raw<Notice | null>(null);
  #place: string | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get current(): Notice | null {
    return this.#current;
  }

  show(text: string, action: Notice["action"] = null, place: string | null = null): void {
    this.#current = { text, action, place };
    this.hold(false);
  }

  /** Shows it until the present chat or screen is left. */
  showHere(text: string, action: Notice["action"] = null): void {
    this.show(text, action, this.#place);
  }

  /** The page shows another chat or screen now. */
  enter(place: string): void {
    this.#place = place;
    if (this.#current !== null && this.#current.place !== null && this.#current.place !== place) this.clear();
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
