import { localised } from "../../language.svelte";

const english = {
  title: "Other machines",
  none: "No machine has joined yet. The workers of a machine that joins answer requests too.",
  memory: (free: string, total: string) => `${free} of ${total} free`,
  free: (free: string) => `${free} of memory free`,
  processor: "Processor",
  unreachable: "Out of reach",
  gone: "Left",
  secondsLeft: (seconds: string) => `given up in ${seconds} s`,
  lastSeen: (moment: string) => `last seen ${moment}`,
  slots: (busy: number, slots: number) => `${busy} of ${slots} replies`,
  version: (version: string) => `version ${version}`,
  placed: (place: string) => `placed as ${place}`,
  remove: "A machine that has left is listed for an hour, and may join again at any time. To keep one out, revoke its key.",
  drainEverywhere: "Drain stops new requests to a worker from all servers, until it is resumed or restarted at any of them.",
  toKeys: "Manage keys",

  add: "Add a machine",
  addDetail: "A worker on another machine connects to this server by itself. Its machine needs Duologue and no open port.",
  name: "Name of the machine",
  nameDetail: "The machine is listed under this name.",
  nameRule: "Letters, digits, dots, dashes and underscores.",
  makeCommand: "Create command",
  commandFor: (machine: string) => `Command for ${machine}`,
  run: "Run this on the machine. The key in it is shown only this once.",
  where: "Add --model FILE for a model of that machine, or --serve NAME for one of this server’s.",
  loopback: "This page’s address can only be reached from this machine. Replace it by the server’s address on the network.",
  joinOff: "Joining is off. Set machines.join: true in the settings of this server, and restart it.",

  gateways: "Servers",
  gatewaysDetail: "They share one database, and each of them can answer any request.",
  alive: "Running",
  lost: "Lost",
  thisOne: "this server",
  started: (moment: string) => `started ${moment}`,
  running: (count: number, written: string) => (count === 1 ? "1 running reply" : `${written} running replies`),
  heard: (ago: string) => `last heard ${ago} ago`,
  lostDetail: "It gave no sign of life in time. The replies that it was writing have ended and can be continued. It leaves this list after an hour.",
  noAddress: "Without an address",
  noAddressDetail: "Its setting cluster.address is empty, so the other servers cannot forward requests to it.",

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
