// Time as an argument: whoever needs it is given one, so that tests never wait.

export interface Clock {
  /** Milliseconds, of any origin, never backwards. */
  now(): number;
  /** Runs `action` once, later; the answer calls it off. */
  after(milliseconds: number, action: () => void): () => void;
  /** Runs `action` once, when the next picture is drawn. */
  frame(action: () => void): void;
}

export const browserClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, action) {
    const timer = setTimeout(action, milliseconds);
    return () => clearTimeout(timer);
  },
  frame: (action) => void requestAnimationFrame(action),
};
