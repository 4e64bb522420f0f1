// Voice packs: a recogniser and a voice for a language, downloaded and used together. Types and client.
import { parseEvent } from "../json";
import type { Fit } from "../models/models";
import { type Answer, type Fetch, type ProblemValues, request, sendJson } from "../transport/http";

/** The name under which the engines of the settings are used again. */
export const BUILT_IN = "built-in";

/** One of the two models of a pack. */
export interface PackModel {
  readonly name: string;
  /** The name as people write it. */
  readonly title: string;
  readonly does: string;
  readonly size: number;
  readonly licence: string;
  readonly source: string;
}

/** Sizes in bytes. */
export interface VoicePack {
  readonly name: string;
  readonly title: string;
  /** What distinguishes it from another pack of the same languages. */
  readonly variant: string;
  /** BCP 47. */
  readonly languages: readonly string[];
  readonly size: number;
  /** Still to be downloaded. */
  readonly missing: number;
  /** Of a download that has not ended. */
  readonly unfinished: number;
  readonly installed: boolean;
  readonly active: boolean;
  /** Empty where the machine cannot be inspected. */
  readonly fit: Fit | "";
  readonly recogniser: PackModel;
  readonly speaker: PackModel;
}

export interface PackProblem {
  readonly code: string;
  readonly message: string;
  readonly values?: ProblemValues;
}

export interface PackJob {
  readonly pack: string;
  readonly state: "downloading" | "checking" | "unpacking" | "loading" | "done" | "failed" | "stopped";
  readonly total: number;
  readonly done: number;
  /** Bytes a second. */
  readonly rate: number;
  /** Seconds. */
  readonly left: number | null;
  readonly error: PackProblem | null;
}

export interface PacksOverview {
  readonly packs: readonly VoicePack[];
  /** The name of the pack in use, or `BUILT_IN`. */
  readonly active: string;
  /** What the settings of the server keep from the packs; empty for nothing. */
  readonly settings: string;
  /** Why no pack can be used. */
  readonly problem: PackProblem | null;
  /** The pack that is being installed, or the last one that was. */
  readonly job: PackJob | null;
}

export type PacksEvent = { readonly type: "pack"; readonly job: PackJob } | { readonly type: "packs" };

export class VoicePacksClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  overview(): Promise<Answer<PacksOverview>> {
    return request(this.#fetch, "api/voice/packs");
  }

  /** Downloads what is missing, and uses the pack. */
  use(name: string): Promise<Answer<PackJob>> {
    return sendJson(this.#fetch, "POST", `api/voice/packs/${encodeURIComponent(name)}`);
  }

  /** Removes a pack; one that is being installed is stopped instead. */
  remove(name: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", `api/voice/packs/${encodeURIComponent(name)}`);
  }
}

const TYPES = new Set(["pack", "packs"]);

/** Null for an event type this page does not know. */
export function readPacksEvent(data: string): PacksEvent | null {
  return parseEvent<PacksEvent>(data, TYPES);
}
