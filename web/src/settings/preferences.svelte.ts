// What this person likes, in this browser: theme, thinking, model. `public/theme.js` reads the same key before the
// first paint.
import type { Shelf } from "./shelf";

export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

const KEY = "duologue.preferences";

function oneOf<Value>(values: readonly Value[], value: unknown, otherwise: Value): Value {
  return values.includes(value as Value) ? (value as Value) : otherwise;
}

export class Preferences {
  readonly #shelf: Shelf;
  #theme = $state<Theme>("system");
  #thinking = $state(false);
  #model = $state("");

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
    let kept: Record<string, unknown> = {};
    try {
      kept = (JSON.parse(shelf.get(KEY) ?? "{}") as Record<string, unknown> | null) ?? {};
    } catch {
      // Not written by us: start afresh.
    }
    this.#theme = oneOf(THEMES, kept["theme"], "system");
    this.#thinking = kept["thinking"] === true;
    this.#model = typeof kept["model"] === "string" ? kept["model"] : "";
  }

  get theme(): Theme {
    return this.#theme;
  }

  set theme(theme: Theme) {
    this.#theme = theme;
    this.#keep();
  }

  /** Whether a model that can is asked to think before it answers. */
  get thinking(): boolean {
    return this.#thinking;
  }

  set thinking(thinking: boolean) {
    this.#thinking = thinking;
    this.#keep();
  }

  /** A model's name; empty means the server's default. */
  get model(): string {
    return this.#model;
  }

  set model(model: string) {
    this.#model = model;
    this.#keep();
  }

  #keep(): void {
    this.#shelf.put(KEY, JSON.stringify({ theme: this.#theme, thinking: this.#thinking, model: this.#model }));
  }
}
