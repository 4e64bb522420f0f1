// The frame around the screens: which one is in sight, and what lies over it. Knows no screen's content and no DOM.
import { addressOf, type Place, placeOf, type Screen } from "./place";

/** What lies over the page, one at a time. */
export type Overlay = "palette" | "shortcuts";

export class Shell {
  readonly #turnTo: (hash: string) => void;
  #place = $state.raw<Place>(placeOf(""));
  #overlay = $state<Overlay | null>(null);
  /** The list of chats lies over a narrow page. */
  drawn = $state(false);
  /** The list of chats is hidden on a wide page. */
  folded = $state(false);
  /** The address of the chat one came from. */
  chat = $state(addressOf(null));

  /** `turnTo` makes a hash the page's address; `arrive` is called when it is. */
  constructor(turnTo: (hash: string) => void) {
    this.#turnTo = turnTo;
  }

  get place(): Place {
    return this.#place;
  }

  get screen(): Screen {
    return this.#place.screen;
  }

  get overlay(): Overlay | null {
    return this.#overlay;
  }

  /** The address is another now. */
  arrive(hash: string): Place {
    this.#place = placeOf(hash);
    if (this.#place.screen === "chat") this.chat = addressOf(this.#place.conversation);
    this.#overlay = null;
    this.drawn = false;
    return this.#place;
  }

  go(hash: string): void {
    this.#overlay = null;
    this.#turnTo(hash);
  }

  show(overlay: Overlay | null): void {
    this.#overlay = overlay;
  }
}
