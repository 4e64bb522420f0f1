import type { ApprovalWords } from "../../en/chat/approvals";

export const approvals: ApprovalWords = {
  always: "Toujours autoriser",
  alwaysTool: (tool) => `Toujours autoriser ${tool}`,
  alwaysToolDetail: "Dans tous les chats, tant que vous ne changez pas ce choix dans les paramètres.",
  alwaysServer: (server) => `Toujours autoriser tout ${server}`,
  alwaysServerDetail: "Tous ses outils, y compris les nouveaux.",
  empty: "vide",
  showAllOf: (name, characters) => `Afficher ${name} en entier (${characters} caractères)`,
  showMore: (count) => (count < 2 ? `Afficher ${count} autre` : `Afficher ${count} autres`),
};
