import type { Clock } from "../src/wire/transport/clock";

/** A clock driven by the test: timers fire in order, frames on demand. */
export class FakeClock implements Clock {
  time = 0;
  #timers: { at: number; action: () => void }[] = [];
  #frames: (() => void)[] = [];

  now(): number {
    return this.time;
  }

  after(milliseconds: number, action: () => void): () => void {
    const timer = { at: this.time + milliseconds, action };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  frame(action: () => void): void {
    this.#frames.push(action);
  }

  get pending(): number {
    return this.#timers.length;
  }

  draw(): void {
    const frames = this.#frames;
    this.#frames = [];
    for (const action of frames) action();
  }

  pass(milliseconds: number): void {
    const until = this.time + milliseconds;
    for (;;) {
      const next = this.#timers.filter((timer) => timer.at <= until).sort((one, other) => one.at - other.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.time = next.at;
      next.action();
    }
    this.time = until;
  }
}
