import { localised } from "../../language.svelte";

const english = {
  face: "Face",
  detail: "Shown in calls. Its lips follow the voice.",
  choose: "Choose a face",
  show: "Show face",
  hide: "Hide face",
  off: "Off",
  rendered: "Rendered by the server",
  renderedDetail: "As video, from the next call on.",
  list: "Couldn’t load the faces.",
  failed: "Couldn’t show the face.",
};

export type FaceWords = typeof english;

export const faces = (): FaceWords => localised("faces", english);
