// The time, for what counts on the page while it is looked at. Ticks only while something shows it.
import { createSubscriber } from "svelte/reactivity";

import { browserClock } from "../../wire/transport/clock";

const INTERVAL_MS = 250;

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, INTERVAL_MS);
  return () => clearInterval(timer);
});

/** Clock time in milliseconds; reading it in a template draws that again as time goes by. */
export function now(): number {
  subscribe();
  return browserClock.now();
}
