import type { ApprovalWords } from "../../en/chat/approvals";

export const approvals: ApprovalWords = {
  always: "Immer erlauben",
  alwaysTool: (tool) => `${tool} immer erlauben`,
  alwaysToolDetail: "In jedem Chat, bis du es in den Einstellungen änderst.",
  alwaysServer: (server) => `Alles von ${server} immer erlauben`,
  alwaysServerDetail: "Alle Tools, auch neue.",
  empty: "leer",
  showAllOf: (name, characters) => `${name} ganz anzeigen (${characters} Zeichen)`,
  showMore: (count) => `${count} weitere anzeigen`,
};
