// The turns shown, as the messages a model is asked with. Pure.
import type { ChatMessage } from "../wire/chat";

export interface Spoken {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** Empty replies are left out, and what the user then said in one breath is joined: many models' templates insist
 * that the two take turns. */
export function promptOf(turns: readonly Spoken[]): ChatMessage[] {
  const messages: { role: "user" | "assistant"; content: string }[] = [];
  for (const { role, text } of turns) {
    if (text === "") continue;
    const last = messages.at(-1);
    if (last?.role === role) last.content += `\n\n${text}`;
    else messages.push({ role, content: text });
  }
  return messages;
}
