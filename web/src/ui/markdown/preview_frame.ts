// Communication with the frame of preview.html, which has an opaque origin.
import { type FrameMessage, type FrameRequest, parseFrameMessage } from "../../markdown/preview";

export const PREVIEW_PAGE = "preview.html";

/** For `{@attach}` on the frame: `onMessage` receives its messages and a function that sends requests. */
export function frameMessages(onMessage: (message: FrameMessage, send: (request: FrameRequest) => void) => void): (element: HTMLIFrameElement) => () => void {
  return (element) => {
    // An opaque origin cannot be named as the target.
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
