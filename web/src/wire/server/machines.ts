// Machines whose workers have joined, the servers that share them, and the nodes of a Ray cluster. Types and client.
import { type Answer, type Fetch, request } from "../transport/http";

export type Reach = "local" | "joined" | "unreachable" | "gone";

export interface MachineWorker {
  /** Its name, with that of its machine. */
  readonly worker: string;
  readonly state: string;
  readonly reach: Reach;
  readonly model: string;
  readonly engine: string;
  readonly device: string;
  readonly slots: number;
  readonly busy: number;
  readonly draining: boolean;
  readonly restarts: number;
  readonly detail: string;
  /** The place of a Ray cluster that it was put on. */
  readonly placed?: string;
  readonly version: string;
  /** Unix seconds. */
  readonly joined: number;
  /** When its connection last came or broke. Unix seconds. */
  readonly seen: number;
  /** Seconds that one out of reach may still come back in; null while it restarts. */
  readonly lease_left: number | null;
}

/** A graphics card or processor. Memory in bytes, 0 where it is not known. */
export interface MachineDevice {
  readonly name: string;
  readonly description: string;
  readonly memory: number;
  readonly free: number;
}

export interface Machine {
  /** Empty: the one that the server runs on. */
  readonly machine: string;
  readonly devices: readonly MachineDevice[];
  readonly workers: readonly MachineWorker[];
}

export interface MachineList {
  /** Whether workers may join. */
  readonly join: boolean;
  readonly gateway?: string;
  /** Where workers reach the server, if its settings say so. */
  readonly address?: string;
  /** The SHA-256 fingerprint of the certificate that a worker pins; empty without TLS. */
  readonly fingerprint?: string;
  readonly machines: readonly Machine[];
}

/** A server of several with one database. Times in milliseconds. */
export interface GatewayRow {
  readonly id: string;
  readonly address: string;
  readonly version: string;
  readonly started: number;
  /** Whether its lease had not ended at the last look. */
  readonly living: boolean;
  /** Whether it is the one that answers. */
  readonly own: boolean;
  /** The replies of chats that it is writing; null where that is not told. */
  readonly running?: number | null;
  /** Seconds since it was last heard of. */
  readonly heard_s?: number | null;
}

export interface NodeResources {
  readonly cpus: number;
  readonly gpus: number;
  readonly memory: number;
}

export interface ClusterNode {
  readonly node: string;
  readonly address: string;
  readonly total: NodeResources;
  readonly free: NodeResources;
  readonly draining: boolean;
  readonly cards: string;
  readonly workers: readonly string[];
}

/** `wanted`: room that is asked for and not there. */
export interface ClusterState {
  readonly cluster: { readonly address: string } | null;
  readonly nodes: readonly ClusterNode[];
  readonly wanted: readonly { readonly resources: NodeResources; readonly count: number }[];
}

export class MachineClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  machines(): Promise<Answer<MachineList>> {
    return request(this.#fetch, "api/machines");
  }

  gateways(): Promise<Answer<{ readonly gateways: readonly GatewayRow[] }>> {
    return request(this.#fetch, "api/gateways");
  }

  nodes(): Promise<Answer<ClusterState>> {
    return request(this.#fetch, "api/admin/nodes");
  }
}
