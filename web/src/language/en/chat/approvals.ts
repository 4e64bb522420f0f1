import { localised } from "../../language.svelte";

/** What is shown when a tool asks before it runs. */
const english = {
  always: "Always allow",
  alwaysTool: (tool: string) => `Always allow ${tool}`,
  alwaysToolDetail: "In every chat, until you change it in Settings.",
  alwaysServer: (server: string) => `Always allow everything from ${server}`,
  alwaysServerDetail: "All of its tools, including new ones.",
  empty: "empty",
  showAllOf: (name: string, characters: string) => `Show all of ${name} (${characters} characters)`,
  showMore: (count: number) => (count === 1 ? "Show 1 more" : `Show ${count} more`),
};

export type ApprovalWords = typeof english;

export const approvals = (): ApprovalWords => localised("approvals", english);
