import { beforeEach, describe, expect, it } from "vitest";

import type { Answer } from "../../../src/wire/transport/http";
import { resumableUploads } from "../../../src/wire/transport/resumable_upload";
import type { StoredFile } from "../../../src/wire/chat/rows";
import { settle } from "../../server";

const PIECE = 4;
const STORED: StoredFile = { hash: "h", mime: "video/mp4", size: 10 };

/** A server with one upload at a time, as `/api/uploads` is. */
class Uploads {
  id = 0;
  got = "";
  size = 0;
  readonly requests: string[] = [];
  /** The connection breaks after this many bytes of the next piece. */
  breaksAfter: number | null = null;
  /** The answer to the last piece is lost. */
  losesAnswer = false;
  refusal: Answer<null> | null = null;

  readonly fetch = async (address: string, init: RequestInit = {}): Promise<Response> => {
    const method = init.method ?? "GET";
    this.requests.push(`${method} ${address}`);
    if (method === "POST") {
      this.size = (JSON.parse(init.body as string) as { size: number }).size;
      this.got = "";
      return new Response(JSON.stringify({ id: `u${++this.id}`, offset: 0, size: this.size, piece_bytes: PIECE }), { status: 201 });
    }
    if (address !== `api/uploads/u${this.id}`) return new Response(null, { status: 404 });
    return new Response(null, { status: 204, headers: { "Upload-Offset": String(this.got.length) } });
  };

  readonly sendPiece = (address: string, piece: Blob, offset: number, progress: (share: number) => void) => {
    this.requests.push(`PATCH ${address} ${offset}`);
    return { answer: this.#receive(address, piece, offset, progress), abort: () => this.requests.push("abort") };
  };

  async #receive(address: string, piece: Blob, offset: number, progress: (share: number) => void): Promise<Answer<StoredFile | null>> {
    const text = await piece.text();
    if (this.refusal) return this.refusal;
    if (address !== `api/uploads/u${this.id}`) return { kind: "refused", status: 404, code: "upload_not_found", message: "Gone." };
    if (offset !== this.got.length) return { kind: "refused", status: 409, code: "upload_offset", message: "Elsewhere." };
    if (this.breaksAfter !== null) {
      this.got += text.slice(0, this.breaksAfter);
      this.breaksAfter = null;
      return { kind: "unreachable" };
    }
    progress(0.5);
    this.got += text;
    if (this.got.length < this.size) return { kind: "ok", value: null };
    if (this.losesAnswer) {
      this.losesAnswer = false;
      return { kind: "unreachable" };
    }
    return { kind: "ok", value: STORED };
  }
}

let server: Uploads;
let shares: number[];
let send: ReturnType<typeof resumableUploads>;
let film: File;

const attempt = () => send(film, (share) => shares.push(share)).answer;

beforeEach(() => {
  server = new Uploads();
  shares = [];
  send = resumableUploads(server);
  film = new File(["0123456789"], "film.mp4", { type: "video/mp4" });
});

describe("an upload in pieces", () => {
  it("sends them in order and tells how far it is", async () => {
    expect(await attempt()).toEqual({ kind: "ok", value: STORED });
    expect(server.got).toBe("0123456789");
    expect(server.requests).toEqual(["POST api/uploads", "PATCH api/uploads/u1 0", "PATCH api/uploads/u1 4", "PATCH api/uploads/u1 8"]);
    expect(shares).toEqual([0, 0.2, 0.6, 0.9]);
  });

  it("goes on where the connection broke, in the middle of a piece too", async () => {
    server.breaksAfter = 3;
    expect(await attempt()).toEqual({ kind: "unreachable" });
    server.requests.length = 0;
    expect(await attempt()).toEqual({ kind: "ok", value: STORED });
    expect([server.got, server.requests]).toEqual(["0123456789", ["HEAD api/uploads/u1", "PATCH api/uploads/u1 3", "PATCH api/uploads/u1 7"]]);
  });

  it("asks again for an answer that was lost at the end", async () => {
    server.losesAnswer = true;
    expect(await attempt()).toEqual({ kind: "unreachable" });
    expect(await attempt()).toEqual({ kind: "ok", value: STORED });
    expect(server.requests.slice(-2)).toEqual(["HEAD api/uploads/u1", "PATCH api/uploads/u1 10"]);
  });

  it("begins again with a server that has forgotten it", async () => {
    server.breaksAfter = 1;
    await attempt();
    server.id = 7;
    expect(await attempt()).toEqual({ kind: "ok", value: STORED });
    expect(server.requests).toContain("PATCH api/uploads/u8 0");
  });

  it("asks where to go on when the server has less or more than it thought", async () => {
    const { sendPiece } = server;
    let isFirst = true;
    send = resumableUploads({
      fetch: server.fetch,
      sendPiece(address, piece, offset, progress) {
        if (offset > 0 && isFirst) (isFirst = false), (server.got = "01");
        return sendPiece(address, piece, offset, progress);
      },
    });
    expect(await attempt()).toEqual({ kind: "ok", value: STORED });
    expect(server.got).toBe("0123456789");
  });

  it("tells a refusal, and one that does not end too", async () => {
    server.refusal = { kind: "refused", status: 413, code: "storage_full", message: "Full." };
    expect(await attempt()).toMatchObject({ code: "storage_full" });
    server.refusal = { kind: "refused", status: 409, code: "upload_offset", message: "Elsewhere." };
    server.requests.length = 0;
    expect(await attempt()).toMatchObject({ code: "upload_offset" });
    expect(server.requests.filter((line) => line.startsWith("PATCH"))).toHaveLength(4);
  });

  it("that is removed is dropped on the server too", async () => {
    let end = () => {};
    send = resumableUploads({
      fetch: server.fetch,
      sendPiece: () => ({ answer: new Promise((resolve) => (end = () => resolve({ kind: "unreachable" }))), abort: () => (server.requests.push("abort"), end()) }),
    });
    const upload = send(film, () => {});
    await settle();
    upload.abort();
    expect(await upload.answer).toEqual({ kind: "unreachable" });
    expect(server.requests).toEqual(["POST api/uploads", "abort", "DELETE api/uploads/u1"]);
  });
});
