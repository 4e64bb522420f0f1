// How much the model thinks, as one word: from the options of a chat. Pure.
import type { GenerationOptions } from "../../wire/server/settings";

export type ThinkingLevel = "off" | "on" | "low" | "medium" | "high" | "free";

/** `hasEffort`: the model can be told how much. */
export function thinkingLevel({ thinking = false, effort }: GenerationOptions, hasEffort: boolean): ThinkingLevel {
  return !thinking ? "off" : !hasEffort ? "on" : (effort ?? "free");
}
