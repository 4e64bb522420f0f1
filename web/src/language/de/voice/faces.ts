import type { FaceWords } from "../../en/voice/faces";

export const faces: FaceWords = {
  face: "Gesicht",
  detail: "In Anrufen zu sehen. Die Lippen folgen der Stimme.",
  choose: "Gesicht wählen",
  show: "Gesicht zeigen",
  hide: "Gesicht ausblenden",
  off: "Aus",
  rendered: "Vom Server gerendert",
  renderedDetail: "Als Video, ab dem nächsten Anruf.",
  list: "Die Gesichter konnten nicht geladen werden.",
  failed: "Das Gesicht konnte nicht gezeigt werden.",
};
