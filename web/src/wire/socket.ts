// The kept chat socket: one request at a time, many after each other. Owns opening it, opening it again in silence
// when it went away between requests, and telling a lost one. Knows no conversation.
import { type ChatRequest, isLast, read, type ServerMessage } from "./chat";

/** What of a WebSocket is used; tests bring their own. */
export interface Socket {
  readonly readyState: number;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send(data: string): void;
  close(): void;
}

export interface Listener {
  /** A message of the request; `done` and `error` are the last. */
  message(message: ServerMessage): void;
  /** The connection ended before the request did; `reached` tells whether the server ever answered it. */
  lost(reached: boolean, reason: string): void;
}

interface Exchange {
  readonly request: ChatRequest;
  readonly listener: Listener;
  /** The server said something about this request. */
  heard: boolean;
  /** It was sent over a socket that had served an earlier request, which may have died unnoticed. */
  reused: boolean;
}

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;

export class ChatSocket {
  readonly #open: () => Socket;
  #socket: Socket | null = null;
  #exchange: Exchange | null = null;

  constructor(open: () => Socket) {
    this.#open = open;
  }

  get busy(): boolean {
    return this.#exchange !== null;
  }

  /** Ask for a reply. One at a time: ask only when not busy. */
  send(request: ChatRequest, listener: Listener): void {
    if (this.#exchange) throw new Error("the socket is still busy with a request");
    const reused = this.#socket?.readyState === OPEN;
    this.#exchange = { request, listener, heard: false, reused };
    if (reused) this.#socket!.send(JSON.stringify(request));
    else this.#connect();
  }

  /** Ask the server to end the running request; its `done` follows. */
  cancel(): void {
    const id = this.#exchange?.request.id;
    if (this.#socket?.readyState === OPEN) this.#socket.send(JSON.stringify({ type: "cancel", id }));
    else this.abandon();
  }

  /** Drop the running request and its connection; nothing more is heard of it. The server ends it by the disconnect. */
  abandon(): void {
    this.#exchange = null;
    this.#drop();
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    // A socket that is closed while it still connects makes the browser complain on the console.
    if (socket.readyState === CONNECTING) socket.onopen = () => socket.close();
    else if (socket.readyState < CLOSING) socket.close();
  }

  #connect(): void {
    this.#drop();
    const socket = this.#open();
    this.#socket = socket;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      if (this.#exchange) socket.send(JSON.stringify(this.#exchange.request));
    };
    socket.onmessage = ({ data }) => this.#receive(read(data));
    socket.onclose = ({ reason }) => this.#closed(opened, reason);
  }

  #receive(message: ServerMessage | null): void {
    const exchange = this.#exchange;
    // What belongs to an earlier, abandoned request is stale.
    if (!message || !exchange || (message.id !== undefined && message.id !== exchange.request.id)) return;
    exchange.heard = true;
    if (isLast(message)) this.#exchange = null;
    exchange.listener.message(message);
  }

  #closed(opened: boolean, reason: string): void {
    const exchange = this.#exchange;
    this.#drop();
    if (!exchange) return;
    if (exchange.reused && !exchange.heard) {
      exchange.reused = false;
      this.#connect();
      return;
    }
    this.#exchange = null;
    exchange.listener.lost(opened, reason);
  }
}
