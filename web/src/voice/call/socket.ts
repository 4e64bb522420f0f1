// The voice socket, as a line: texts and sound both ways. Owns the WebSocket and what is done with sound it cannot take.
// Knows no message.

export interface SocketListener {
  onOpen(): void;
  onText(text: string): void;
  onAudio(pcm: Int16Array): void;
  /** It is gone, or never was there. Said once. */
  onClose(code: number, reason: string): void;
}

export interface CallSocket {
  sendText(text: string): void;
  /** 16-bit samples. What a slow network has not taken is dropped rather than sent late. */
  sendAudio(pcm: Int16Array<ArrayBuffer>): void;
  close(): void;
}

export type OpenSocket = (listener: SocketListener) => CallSocket;

/** Bytes that may wait in the browser: two seconds of sound. */
const MAX_BUFFERED = 64_000;

/** Beside the page, under whatever path it is. */
export function voiceAddress(page: string): string {
  const address = new URL("ws/voice", page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.hash = address.search = "";
  return address.href;
}

/** `make` is the browser's WebSocket for an address. */
export function socketOpener(connect: () => WebSocket): OpenSocket {
  return (listener) => {
    const socket = connect();
    socket.binaryType = "arraybuffer";
    let closed = false;
    socket.onopen = () => listener.onOpen();
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === "string") listener.onText(data);
      else listener.onAudio(new Int16Array(data, 0, data.byteLength >> 1));
    };
    socket.onclose = ({ code, reason }) => {
      if (!closed) listener.onClose(code, reason);
      closed = true;
    };
    const isOpen = () => socket.readyState === socket.OPEN;
    return {
      sendText: (text) => isOpen() && socket.send(text),
      sendAudio: (pcm) => isOpen() && socket.bufferedAmount < MAX_BUFFERED && socket.send(pcm.buffer),
      close() {
        closed = true;
        socket.close(1000);
      },
    };
  };
}
