// The voice WebSocket: text and audio both ways, and pictures to the server. Owns what happens to audio the network cannot take.

export interface SocketListener {
  onOpen(): void;
  onText(text: string): void;
  onAudio(pcm: Int16Array): void;
  /** Closed, or never opened. Called once. */
  onClose(code: number, reason: string): void;
}

export interface CallSocket {
  sendText(text: string): void;
  /** Sends 16-bit samples. If the network is too slow they are dropped: late audio is useless. */
  sendAudio(pcm: Int16Array<ArrayBuffer>): void;
  /** Sends a message with a picture. Audio waits behind it rather than being dropped. */
  sendPicture(text: string): void;
  /** Bytes that the network has not taken yet. */
  readonly buffered: number;
  close(): void;
}

export type OpenSocket = (listener: SocketListener) => CallSocket;

/** Most bytes buffered in the browser: two seconds of audio. */
const MAX_BUFFERED = 64_000;

/** The socket's address, relative to the page. */
export function voiceAddress(page: string): string {
  const address = new URL("ws/voice", page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.hash = address.search = "";
  return address.href;
}

/** `connect` creates the browser's WebSocket. */
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
    /** Bytes of the last picture, until the network has taken it. */
    let picture = 0;
    return {
      sendText: (text) => isOpen() && socket.send(text),
      sendAudio(pcm) {
        if (socket.bufferedAmount < MAX_BUFFERED) picture = 0;
        if (isOpen() && socket.bufferedAmount < MAX_BUFFERED + picture) socket.send(pcm.buffer);
      },
      sendPicture(text) {
        if (!isOpen()) return;
        picture = text.length;
        socket.send(text);
      },
      get buffered() {
        return socket.bufferedAmount;
      },
      close() {
        closed = true;
        socket.close(1000);
      },
    };
  };
}
