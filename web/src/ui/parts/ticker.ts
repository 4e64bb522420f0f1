// The time as reactive state. Ticks only while it is displayed.
import { createSubscriber } from "svelte/reactivity";

import { browserClock } from "../../wire/transport/clock";

const INTERVAL_MS = 250;

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, INTERVAL_MS);
  return () => clearInterval(timer);
});

/** Clock time in milliseconds; a template that reads it is updated as time passes. */
export function now(): number {
  subscribe();
  return browserClock.now();
}
