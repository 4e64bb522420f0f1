// Which screen and which overlay is open, and the state of the sidebar. No DOM.
import { chatAddress, parseRoute, type Route, type Screen } from "./route";

/** Overlays; one at a time. */
export type Overlay = "palette" | "shortcuts";

export class Shell {
  readonly #setHash: (hash: string) => void;
  #route = $state.raw<Route>(parseRoute(""));
  #overlay = $state<Overlay | null>(null);
  /** On a narrow page: the sidebar is open as a drawer. */
  drawerOpen = $state(false);
  /** On a wide page: the sidebar is hidden. */
  sidebarHidden = $state(false);
  /** Address of the last chat, to return to from a screen. */
  lastChatAddress = $state(chatAddress(null));

  /** `setHash` changes the address; the browser's event then calls `onHashChange`. */
  constructor(setHash: (hash: string) => void) {
    this.#setHash = setHash;
  }

  get route(): Route {
    return this.#route;
  }

  get screen(): Screen {
    return this.#route.screen;
  }

  get overlay(): Overlay | null {
    return this.#overlay;
  }

  /** The address has changed. */
  onHashChange(hash: string): Route {
    this.#route = parseRoute(hash);
    if (this.#route.screen === "chat") this.lastChatAddress = chatAddress(this.#route.conversation);
    this.#overlay = null;
    this.drawerOpen = false;
    return this.#route;
  }

  navigate(hash: string): void {
    this.#overlay = null;
    this.#setHash(hash);
  }

  show(overlay: Overlay | null): void {
    this.#overlay = overlay;
  }
}
