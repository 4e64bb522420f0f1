import type { ApprovalWords } from "../../en/chat/approvals";

export const approvals: ApprovalWords = {
  always: "Permitir siempre",
  alwaysTool: (tool) => `Permitir siempre ${tool}`,
  alwaysToolDetail: "En todos los chats, hasta que lo cambies en Configuración.",
  alwaysServer: (server) => `Permitir siempre todo lo de ${server}`,
  alwaysServerDetail: "Todas sus herramientas, también las nuevas.",
  empty: "vacío",
  showAllOf: (name, characters) => `Mostrar ${name} completo (${characters} caracteres)`,
  showMore: (count) => `Mostrar ${count} más`,
};
