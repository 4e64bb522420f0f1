import type { FaceWords } from "../../en/voice/faces";

export const faces: FaceWords = {
  face: "Visage",
  detail: "Affiché pendant les appels. Les lèvres suivent la voix.",
  choose: "Choisir un visage",
  show: "Afficher le visage",
  hide: "Masquer le visage",
  off: "Aucun",
  rendered: "Rendu par le serveur",
  renderedDetail: "En vidéo, à partir du prochain appel.",
  list: "Impossible de charger les visages.",
  failed: "Impossible d’afficher le visage.",
};
