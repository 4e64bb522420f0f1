// Colours code beside the page, so that no block of it, however long, holds a key press up.
import { colour } from "./colours";

export interface Wanted {
  readonly id: number;
  readonly code: string;
  readonly label: string;
}

addEventListener("message", ({ data }: MessageEvent<Wanted>) => {
  void colour(data.code, data.label)
    .catch(() => null)
    .then((pieces) => postMessage({ id: data.id, pieces }));
});
