// Faces to speak with, as the server keeps them: listed, brought, marked, shared, deleted.
import type { Look } from "../../voice/face/look";
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

export type AvatarKind = "drawn" | "picture" | "figure";

/** Fractions of a picture's width and height, from its upper left corner. */
export type MarkPoint = readonly [x: number, y: number];

export interface EyeMarks {
  readonly outer: MarkPoint;
  readonly inner: MarkPoint;
  readonly upper: MarkPoint;
  readonly lower: MarkPoint;
}

/** Where the parts of the face in a picture are. Left and right as seen in the picture. */
export interface Landmarks {
  readonly left_eye: EyeMarks;
  readonly right_eye: EyeMarks;
  readonly mouth_left: MarkPoint;
  readonly mouth_right: MarkPoint;
  readonly mouth_top: MarkPoint;
  readonly mouth_bottom: MarkPoint;
  /** Where the lips meet, in the middle of the mouth. */
  readonly lips: MarkPoint;
  readonly chin: MarkPoint;
}

export interface Avatar {
  readonly id: string;
  readonly name: string;
  readonly kind: AvatarKind;
  /** Of this user; another one's is here because it is shared. Nobody's own: a drawn one. */
  readonly own: boolean;
  readonly shared: boolean;
  /** A picture is once its landmarks are set. */
  readonly ready: boolean;
  /** Absent for drawn faces, as everything below. */
  readonly size?: number;
  readonly digest?: string;
  readonly preview?: boolean;
  /** Pixels, of a picture. */
  readonly width?: number;
  readonly height?: number;
  readonly landmarks?: Landmarks | null;
}

export interface AvatarList {
  readonly avatars: readonly Avatar[];
  /** The kinds that the server renders in calls; absent from older servers. */
  readonly rendered?: readonly AvatarKind[];
}

export interface NewAvatar {
  readonly name: string;
  readonly file: Blob;
  /** The wording that was agreed to; empty for a figure. */
  readonly consent: string;
}

export interface AvatarChange {
  readonly name?: string;
  readonly landmarks?: Landmarks;
  readonly shared?: boolean;
}

const PLACE = "api/avatars";
/** Milliseconds that an upload and reading a large figure may take. */
const TIMEOUT_MS = 300_000;

export class AvatarClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  list(): Promise<Answer<AvatarList>> {
    return request(this.#fetch, PLACE);
  }

  get(id: string): Promise<Answer<Avatar>> {
    return request(this.#fetch, place(id));
  }

  /** The shapes of a drawn face; refused with 404 for others. */
  look(id: string): Promise<Answer<Look>> {
    // The server says whether they have changed.
    return request(this.#fetch, `${place(id)}/look`, { cache: "no-cache" });
  }

  add({ name, file, consent }: NewAvatar): Promise<Answer<Avatar>> {
    const form = new FormData();
    form.set("file", file, "face");
    form.set("name", name);
    form.set("consent", consent);
    return request(this.#fetch, PLACE, { method: "POST", body: form, signal: AbortSignal.timeout(TIMEOUT_MS) });
  }

  change(id: string, change: AvatarChange): Promise<Answer<Avatar>> {
    return sendJson(this.#fetch, "PUT", place(id), change);
  }

  remove(id: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", place(id));
  }

  /** The bytes of a picture or figure. Null if the server does not give them. */
  async file(id: string, signal: AbortSignal): Promise<ArrayBuffer | null> {
    try {
      const response = await this.#fetch(`${place(id)}/file`, { credentials: "same-origin", signal });
      return response.ok ? await response.arrayBuffer() : null;
    } catch {
      return null;
    }
  }
}

/** The address of a small picture of a brought face. */
export const previewAddress = (id: string) => `${place(id)}/preview`;

/** The address of the picture or figure itself. */
export const fileAddress = (id: string) => `${place(id)}/file`;

function place(id: string): string {
  return `${PLACE}/${encodeURIComponent(id)}`;
}
