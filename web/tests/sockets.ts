import type { Socket } from "../src/wire/socket";

/** The far end of a socket, played by the test. */
export class FakeSocket implements Socket {
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  readonly sent: any[] = [];

  send(data: string): void {
    this.sent.push(JSON.parse(data));
  }

  close(): void {
    this.readyState = 3;
  }

  opens(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  says(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  dies(reason = ""): void {
    this.readyState = 3;
    this.onclose?.({ code: 1006, reason });
  }
}

/** Hands out sockets and remembers them. */
export class FakeNetwork {
  readonly sockets: FakeSocket[] = [];

  open = (): FakeSocket => {
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket;
  };

  get last(): FakeSocket {
    return this.sockets.at(-1)!;
  }
}
