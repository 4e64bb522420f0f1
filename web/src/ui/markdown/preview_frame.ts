// The frame of preview.html: an origin of its own, which reaches neither the page nor the network.
import { type FrameRequest, type FrameMessage, parseFrameMessage } from "../../markdown/preview";

export const PREVIEW_PAGE = "preview.html";

/** For `{@attach}` on the frame's element: `hear` is given what it tells, and the way to ask it something. */
export function frameMessages(hear: (told: FrameMessage, ask: (asked: FrameRequest) => void) => void): (element: HTMLIFrameElement) => () => void {
  return (element) => {
    // Its origin is nobody's, so it has no name to address it by.
    const ask = (asked: FrameRequest) => element.contentWindow?.postMessage(asked, "*");
    const listen = ({ source, data }: MessageEvent) => {
      if (source !== element.contentWindow) return;
      const told = parseFrameMessage(data);
      if (told !== null) hear(told, ask);
    };
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  };
}
