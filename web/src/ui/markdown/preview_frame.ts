// The frame of preview.html: an origin of its own, which reaches neither the page nor the network.
import { type FrameRequest, type FrameMessage, parseFrameMessage } from "../../markdown/preview";

export const PREVIEW_PAGE = "preview.html";

/** For `{@attach}` on the frame's element: `hear` is given what it tells, and the way to ask it something. */
export function frameMessages(onMessage: (message: FrameMessage, send: (request: FrameRequest) => void) => void): (element: HTMLIFrameElement) => () => void {
  return (element) => {
    // Its origin is nobody's, so it has no name to address it by.
    const send = (request: FrameRequest) => element.contentWindow?.postMessage(request, "*");
    const listen = ({ source, data }: MessageEvent) => {
      if (source !== element.contentWindow) return;
      const message = parseFrameMessage(data);
      if (message !== null) onMessage(message, send);
    };
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  };
}
