import { localised } from "../../language.svelte";

const english = {
  title: "Other machines",
  none: "No worker of another machine has joined.",
  memory: (free: string, total: string) => `${free} of ${total} free`,
  free: (free: string) => `${free} free`,
  processor: "processor",
  noWorkers: "Its workers have left.",
  states: { unreachable: "Out of reach", gone: "Left" } as Record<string, string>,
  secondsLeft: (seconds: string) => `${seconds} s left to come back`,
  slots: (busy: number, slots: number) => `${busy} of ${slots} replies`,
  version: (version: string) => `version ${version}`,
  placed: (place: string) => `placed as ${place}`,
  remove: "To send a machine away, revoke its key.",
  toKeys: "Manage keys",

  add: "Add a machine",
  addDetail: "A worker on another machine connects to this server by itself. Its machine needs Duologue and no open port.",
  name: "Name of the machine",
  makeCommand: "Make the command",
  commandFor: (machine: string) => `Command for ${machine}`,
  run: "Run this on the machine. The key in it is shown only this once.",
  where: "Add --model FILE for a model of that machine, or --serve NAME for one of this server’s.",
  loopback: "This page’s address is reachable from this machine alone. Put the server’s own address in its place.",
  joinOff: "Joining is off. Set machines.join: true in the settings of this server, and restart it.",

  gateways: "Servers",
  address: "Address",
  versionLabel: "Version",
  state: "State",
  since: "Since",
  alive: "alive",
  lost: "lost",
  thisOne: (address: string) => `${address} (this one)`,

  cluster: (address: string) => `Ray cluster at ${address}`,
  node: "Node",
  cpus: "Cores free",
  gpus: "GPUs free",
  nodeMemory: "Memory free",
  workers: "Workers",
  of: (free: string, total: string) => `${free} of ${total}`,
  drainingNode: (address: string) => `${address}, draining`,
  wanted: (count: number, room: string) => (count === 1 ? `One place waits for ${room}.` : `${count} places wait for ${room}.`),
  room: (cpus: string, gpus: string, memory: string) => [cpus && `${cpus} cores`, gpus && `${gpus} GPU`, memory && `${memory} of memory`].filter(Boolean).join(", "),
};

export type MachinesWords = typeof english;

export const machines = (): MachinesWords => localised("machines", english);
