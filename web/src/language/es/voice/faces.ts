import type { FaceWords } from "../../en/voice/faces";

export const faces: FaceWords = {
  face: "Cara",
  detail: "Se ve en las llamadas. Los labios siguen la voz.",
  choose: "Elegir una cara",
  show: "Mostrar la cara",
  hide: "Ocultar la cara",
  off: "Ninguna",
  rendered: "Generada por el servidor",
  renderedDetail: "Como vídeo, a partir de la próxima llamada.",
  list: "No se pudieron cargar las caras.",
  failed: "No se pudo mostrar la cara.",
};
