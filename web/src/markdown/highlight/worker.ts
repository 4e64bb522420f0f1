// Highlights code in a worker, so that a long block never delays a key press.
import { highlight } from "./highlight";

export interface HighlightRequest {
  readonly id: number;
  readonly code: string;
  readonly label: string;
}

addEventListener("message", ({ data }: MessageEvent<HighlightRequest>) => {
  void highlight(data.code, data.label)
    .catch(() => null)
    .then((runs) => postMessage({ id: data.id, runs }));
});
