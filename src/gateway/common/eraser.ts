/** One place that holds data of tenants, and how that data is erased. Each part that keeps something of a tenant provides one. */
import type { LRUCache } from 'lru-cache';

export type ErasureSubject = {
  readonly clientId: string;
  /** Stays: it tells nothing without the installation's key. */
  readonly tenantRef: string;
};

export type Erased = {
  /** How many of what: dashboards, rows, keys. */
  readonly erased: Readonly<Record<string, number>>;
  /** What stays, and why. Names no tenant. */
  readonly left?: readonly string[];
};

export type Eraser = {
  /** As the report names it. */
  readonly where: string;
  /** Safe to repeat: what is gone is not an error. Rejects where it cannot be told that all is gone. */
  readonly erase: (subject: ErasureSubject) => Promise<Erased>;
};

/** Drops what this process holds of a client in memory; other replicas drop it when it expires. Returns the number of entries. */
export type ForgetClient = (clientId: string) => number;

export const dropWhere = <Key extends object | string, Value extends object>(
  held: LRUCache<Key, Value>,
  isOfClient: (key: Key, value: Value) => boolean,
): number => {
  const found = [...held.entries()].filter(([key, value]) => isOfClient(key, value));
  for (const [key] of found) held.delete(key);
  return found.length;
};

export const createMemoryEraser = (parts: readonly ForgetClient[]): Eraser => ({
  where: "this gateway's memory",
  erase: async ({ clientId }) => ({
    erased: { entries: parts.reduce((sum, forget) => sum + forget(clientId), 0) },
  }),
});
