// What a call looks like and is called at a moment. Pure.
import type { Call } from "../../voice/call/call.svelte";
import { voice as words } from "../../language/en/voice";
import type { Mood } from "./shape";

type Seen = Pick<Call, "phase" | "state" | "place" | "approval">;

export function moodOf({ phase, state }: Seen): Mood {
  if (phase === "live") return state;
  return phase === "over" ? "over" : "calling";
}

/** The state as a text; while it waits with the place in the queue. */
export function stateOf({ phase, state, place, approval }: Seen): string {
  if (phase === "over") return words().over;
  if (phase === "again") return words().callingAgain;
  if (approval) return words().asks;
  if (place) return [words().place(place.position), ...(place.wait === null ? [] : [words().wait(place.wait)])].join(", ");
  return phase === "beginning" ? words().calling : words().states[state];
}
