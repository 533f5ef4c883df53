/** The interface to erase a tenant's data. Each module that stores data of tenants provides an Eraser. */
import type { LRUCache } from 'lru-cache';
import type { Lease } from '../ledger/leases.js';

export type ErasureSubject = {
  readonly clientId: string;
  /** Is not erased, since it reveals nothing without the installation's key. */
  readonly tenantRef: string;
};

export type Erased = {
  /** Numbers of erased items by kind, such as dashboards, rows or keys. */
  readonly erased: Readonly<Record<string, number>>;
  /** Data that is not erased, and the reason. Contains no tenant name. */
  readonly left?: readonly string[];
};

export type Eraser = {
  /** The name of the storage in the report. */
  readonly where: string;
  /**
   * Erases the subject's data. Idempotent: missing data is no error. Rejects unless all data is certainly erased. If
   * another process has the tenant's `lock` by now, the tenant may have signed up again. So data that cannot be made anew
   * is deleted under the lock where it lies in the ledger, and with the lock's fence elsewhere. Caches and tokens need
   * neither: what is lost too much is made anew.
   */
  readonly erase: (subject: ErasureSubject, lock: Pick<Lease, 'write' | 'fence'>) => Promise<Erased>;
};

/**
 * Deletes a client's data from the memory of this process. Other replicas keep theirs until it expires. Returns the
 * number of entries.
 */
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
