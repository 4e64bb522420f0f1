// Scrolls to a turn and keeps it in the middle while the turns around it get their heights, which the browser knows only
// once they are in view.

/** Frames until everything around is drawn. */
const FRAMES = 12;
const BY_HAND = ["wheel", "touchstart", "pointerdown", "keydown"];

/** Ends early when somebody scrolls, or the turn goes away. */
export function revealTurn(turn: Element): void {
  const hand = new AbortController();
  for (const kind of BY_HAND) addEventListener(kind, () => hand.abort(), { signal: hand.signal, passive: true });
  let remaining = FRAMES;
  const step = () => {
    if (hand.signal.aborted) return;
    if (!turn.isConnected || remaining-- === 0) return hand.abort();
    turn.scrollIntoView({ block: "center" });
    requestAnimationFrame(step);
  };
  step();
}
