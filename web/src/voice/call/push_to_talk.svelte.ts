// Push-to-talk: whether it is on, whether its button is held down, and when the microphone is silent. Used by `Call`.
// No DOM.

export class PushToTalk {
  #on = $state(false);
  #pressed = $state(false);
  readonly #silence: (silent: boolean) => void;

  /** `silence` is told whether the microphone is to be silent: between presses, while push-to-talk is on. */
  constructor(on: boolean, silence: (silent: boolean) => void) {
    this.#on = on;
    this.#silence = silence;
    silence(on);
  }

  get on(): boolean {
    return this.#on;
  }

  get pressed(): boolean {
    return this.#pressed;
  }

  /** The button was pressed or released. Returns whether that changed anything. */
  press(down: boolean): boolean {
    if (!this.#on || this.#pressed === down) return false;
    this.#pressed = down;
    this.#apply();
    return true;
  }

  /** Switches push-to-talk. */
  turn(on: boolean): void {
    this.#on = on;
    this.#pressed = false;
    this.#apply();
  }

  /** The button counts as released: the connection that knew of the press is gone. */
  release(): void {
    this.#pressed = false;
    this.#apply();
  }

  #apply(): void {
    this.#silence(this.#on && !this.#pressed);
  }
}
