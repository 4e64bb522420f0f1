// Time as an argument, so that tests never wait.

export interface Clock {
  /** Milliseconds since an arbitrary origin; monotonic. */
  now(): number;
  /** Runs `action` once, after the delay. The returned function cancels it. */
  after(milliseconds: number, action: () => void): () => void;
  /** Runs `action` once, before the next repaint. */
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
