// The voice socket, as a line: texts and sound both ways. Owns the WebSocket and what is done with sound it cannot take.
// Knows no message.

export interface LineListener {
  opened(): void;
  said(text: string): void;
  sounded(pcm: Int16Array): void;
  /** It is gone, or never was there. Said once. */
  closed(code: number, reason: string): void;
}

export interface Line {
  say(text: string): void;
  /** 16-bit samples. What a slow network has not taken is dropped rather than sent late. */
  sound(pcm: Int16Array<ArrayBuffer>): void;
  close(): void;
}

export type OpenLine = (listener: LineListener) => Line;

/** Bytes that may wait in the browser: two seconds of sound. */
const MOST_WAITING = 64_000;

/** Beside the page, under whatever path it is. */
export function voiceAddress(page: string): string {
  const address = new URL("ws/voice", page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.hash = address.search = "";
  return address.href;
}

/** `make` is the browser's WebSocket for an address. */
export function lineTo(make: () => WebSocket): OpenLine {
  return (listener) => {
    const socket = make();
    socket.binaryType = "arraybuffer";
    let over = false;
    socket.onopen = () => listener.opened();
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === "string") listener.said(data);
      else listener.sounded(new Int16Array(data, 0, data.byteLength >> 1));
    };
    socket.onclose = ({ code, reason }) => {
      if (!over) listener.closed(code, reason);
      over = true;
    };
    const isOpen = () => socket.readyState === socket.OPEN;
    return {
      say: (text) => isOpen() && socket.send(text),
      sound: (pcm) => isOpen() && socket.bufferedAmount < MOST_WAITING && socket.send(pcm.buffer),
      close() {
        over = true;
        socket.close(1000);
      },
    };
  };
}
