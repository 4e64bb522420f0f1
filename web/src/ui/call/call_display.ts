// The shape and the status text of a call. Pure.
import type { Call } from "../../voice/call/call.svelte";
import { voice as words } from "../../language/en/voice/voice";
import type { Mood } from "./shape";

type VisibleState = Pick<Call, "phase" | "state" | "queuePosition" | "approval">;

export function moodOf({ phase, state }: VisibleState): Mood {
  if (phase === "live") return state;
  return phase === "over" ? "over" : "calling";
}

/** The status text; while waiting, with the position in the queue. */
export function stateOf({ phase, state, queuePosition, approval }: VisibleState): string {
  if (phase === "over") return words().over;
  if (phase === "reconnecting") return words().callingAgain;
  if (approval) return words().asks;
  if (queuePosition) return [words().place(queuePosition.position), ...(queuePosition.wait === null ? [] : [words().wait(queuePosition.wait)])].join(", ");
  return phase === "connecting" ? words().calling : words().states[state];
}
