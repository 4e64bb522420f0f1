import { expect, it } from "vitest";

import { registerWorker } from "../../src/offline/register";

class Worker extends EventTarget {
  readonly told: string[] = [];
  state = "installing";

  postMessage(build: string): void {
    this.told.push(build);
  }
}

class Registration extends EventTarget {
  waiting: Worker | null = null;
  installing: Worker | null = null;
  active: Worker | null = null;
}

function registryOf(registration: Registration | undefined) {
  const addresses: string[] = [];
  return { addresses, register: async (address: string) => (addresses.push(address), registration) };
}

it("registers the worker beside the page, under whatever path that is", async () => {
  const registry = registryOf(new Registration());
  await registerWorker(registry, "1a2b");
  expect(registry.addresses).toEqual(["./sw.js"]);
});

it("registers nothing in development, or without service workers", async () => {
  const registry = registryOf(new Registration());
  await registerWorker(registry, null);
  await registerWorker(undefined, "1a2b");
  expect(registry.addresses).toEqual([]);
});

it("ignores a browser that refuses", async () => {
  const refusing = { register: () => Promise.reject(new Error("the certificate is not trusted")) };
  await expect(registerWorker(refusing, "1a2b")).resolves.toBeUndefined();
  await expect(registerWorker(registryOf(undefined), "1a2b")).resolves.toBeUndefined();
});

it("sends the page's build to existing workers", async () => {
  const registration = new Registration();
  registration.waiting = new Worker();
  registration.active = new Worker();
  await registerWorker(registryOf(registration), "1a2b");
  expect(registration.waiting.told).toEqual(["1a2b"]);
  expect(registration.active.told).toEqual(["1a2b"]);
});

it("sends it to a worker that waits later", async () => {
  const registration = new Registration();
  await registerWorker(registryOf(registration), "1a2b");
  const worker = new Worker();
  registration.installing = worker;
  registration.dispatchEvent(new Event("updatefound"));
  registration.installing = null;
  registration.waiting = worker;
  worker.dispatchEvent(new Event("statechange"));
  expect(worker.told).toEqual(["1a2b"]);
});
