/** How the data of a tenant is erased. Each part that stores data of tenants provides an Eraser. */
import type { LRUCache } from 'lru-cache';

export type ErasureSubject = {
  readonly clientId: string;
  /** Is not erased: it reveals nothing without the installation's key. */
  readonly tenantRef: string;
};

export type Erased = {
  /** Counts by kind, such as dashboards, rows or keys. */
  readonly erased: Readonly<Record<string, number>>;
  /** What is not erased, and why. Names no tenant. */
  readonly left?: readonly string[];
};

export type Eraser = {
  /** The name in the report. */
  readonly where: string;
  /** Idempotent: missing data is no error. Rejects if it is not certain that everything is erased. */
  readonly erase: (subject: ErasureSubject) => Promise<Erased>;
};

/** Drops a client's data from the memory of this process; other replicas drop theirs when it expires. Returns the number of entries. */
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
