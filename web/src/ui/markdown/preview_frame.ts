// Communication with the frame of preview.html, which has an opaque origin.
import { type FrameMessage, type FrameRequest, parseFrameMessage } from "../../markdown/preview";

export const PREVIEW_PAGE = "preview.html";

/** Messages a second after which a frame is emptied: reading them all would leave the page no time for anything else. */
const MOST_MESSAGES = 40;
/** Characters that count like one message. */
const MESSAGE_CHARACTERS = 100_000;

/** For `{@attach}` on the frame: `onMessage` receives its messages and a function that sends requests. */
export function frameMessages(onMessage: (message: FrameMessage, send: (request: FrameRequest) => void) => void): (element: HTMLIFrameElement) => () => void {
  return (element) => {
    // An opaque origin cannot be named as the target.
    const send = (request: FrameRequest) => element.contentWindow?.postMessage(request, "*");
    let second = 0;
    let count = 0;
    const listen = (event: MessageEvent) => {
      if (event.source !== element.contentWindow) return;
      const now = Math.floor(event.timeStamp / 1000);
      count = now === second ? count + 1 : 1;
      second = now;
      // A browser decodes the data of a message when it is read, so not of one too many.
      if (count <= MOST_MESSAGES) count += Math.floor(charactersOf(event.data) / MESSAGE_CHARACTERS);
      if (count > MOST_MESSAGES) {
        removeEventListener("message", listen);
        element.src = "about:blank";
        return;
      }
      const message = parseFrameMessage(event.data);
      if (message !== null) onMessage(message, send);
    };
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  };
}

function charactersOf(data: unknown): number {
  if (typeof data !== "object" || data === null) return 0;
  return Object.values(data).reduce((sum: number, value: unknown) => sum + (typeof value === "string" ? value.length : 0), 0);
}
