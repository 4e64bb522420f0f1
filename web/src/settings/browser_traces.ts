// What this browser keeps of the page, and taking it away. The storages are handed in: a browser may close them to us.

const OURS = "duologue.";

interface Kept {
  readonly length: number;
  key(index: number): string | null;
  removeItem(key: string): void;
}

interface Copies {
  keys(): Promise<readonly string[]>;
  delete(name: string): Promise<boolean>;
}

/** How the copies of the page at `scope` begin: as the service worker names them (offline/answering.ts), which is a
 * script of its own and shares no part with the page. */
export function copiesOf(scope: string): string {
  return `duologue ${scope} `;
}

/** Takes away every text of ours. */
export function forgetTexts(storages: readonly (() => Kept)[]): void {
  for (const storage of storages) {
    try {
      const kept = storage();
      const keys = Array.from({ length: kept.length }, (_, index) => kept.key(index));
      for (const key of keys) if (key?.startsWith(OURS)) kept.removeItem(key);
    } catch {
      // Closed to us, so there is nothing of ours in it.
    }
  }
}

/** The same, and the copies of this server's page at `scope`: others may share its origin. `copies` is null where a
 * browser keeps none. */
export async function forgetTraces(storages: readonly (() => Kept)[], copies: Copies | null, scope: string): Promise<void> {
  forgetTexts(storages);
  const names = (await copies?.keys().catch(() => [])) ?? [];
  for (const name of names.filter((store) => store.startsWith(copiesOf(scope)))) await copies?.delete(name).catch(() => false);
}
