/**
 * What a policy may read besides its own files: tables of tenants, and hosts that are asked for tenants. The
 * configuration lists them, so that no text that somebody saves or tries reads a file, an address or a secret that the
 * operator did not name.
 */
import { realpath } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import type { Source } from '../../platform/files/yaml-source.js';
import { PolicyFaults } from './source.js';
import { loadTenantTable, openTenantTable, type TenantTableFile } from './tenant-table.js';

/** The setting `gateway.policyMayRead`. */
export type PolicyMayRead = {
  /** Tables of tenants as the policy names them. */
  readonly tables: readonly string[];
  readonly lookups: readonly {
    readonly url: string;
    readonly secretVariable: string;
    /** Whether the address may be one of the operator's own network. */
    readonly allowPrivateAddresses: boolean;
  }[];
};

export type PolicyReach = {
  /** Returns the table that the policy `file` names. Throws PolicyFaults. */
  readonly openTable: (table: string, file: string) => TenantTableFile;
  /** Returns whether the host may have an address of the operator's own network, or the fault of the lookup. */
  readonly findLookup: (lookup: {
    readonly url: string;
    readonly secretVariable: string;
  }) => { readonly allowsPrivate: boolean } | { readonly fault: string };
};

/**
 * The reach of a text. `named`: the table that the text names, which is read now. `known`: the table of the policy in
 * force, if it has one.
 */
export type ReachOf = (named: string | undefined, known?: TenantTableFile) => Promise<PolicyReach>;

/** For the command line and for hosts that mount the gateway: the one who runs it names the policy's file. */
export const everythingNamed: PolicyReach = {
  openTable: (table, file) => loadTenantTable(resolve(dirname(file), table)),
  findLookup: () => ({ allowsPrivate: true }),
};

const setting = 'gateway.policyMayRead';

/** The table of tenants that a text names. */
export const tableNamedIn = ({ content }: Source): string | undefined => {
  const table: unknown = Object(Object(Object(content).session).tenant).table;
  return typeof table === 'string' ? table : undefined;
};

const isInside = async (file: string, folder: string): Promise<boolean> => {
  const [inner, outer] = await Promise.all([file, folder].map((one) => realpath(one)));
  return inner !== undefined && outer !== undefined && inner.startsWith(`${outer}${sep}`);
};

const notInside = 'is not in the folder of the policy, or below it: tables outside are not read';

const openListed = async (table: string, policyFile: string): Promise<TenantTableFile> => {
  const file = resolve(dirname(policyFile), table);
  // A missing file is said by its reader.
  const isThere = await isInside(file, dirname(policyFile)).catch(() => true);
  if (!isThere) throw new PolicyFaults([{ at: `${file}:1:1`, message: `the table of tenants ${notInside}` }]);
  return openTenantTable(file);
};

/**
 * Reads the named table, as far as the configuration lists it, and returns the reach for compiling the text. Reads no
 * other file, and never holds up other requests. `known`: the table of the policy in force, which is not read again.
 */
const prepare = async (
  { tables, lookups }: PolicyMayRead,
  named: string | undefined,
  policyFile: string,
  known: TenantTableFile | undefined,
): Promise<PolicyReach> => {
  const fileOf = (table: string): string => resolve(dirname(policyFile), table);
  const isListed = named !== undefined && tables.map(fileOf).includes(fileOf(named));
  const isKnown = named !== undefined && known?.file === fileOf(named);
  const opened = isListed
    ? await (isKnown ? Promise.resolve(known) : openListed(named, policyFile)).catch((error: unknown) => {
        if (error instanceof PolicyFaults) return error;
        throw error;
      })
    : undefined;
  return {
    openTable: (table) => {
      if (opened instanceof PolicyFaults) throw opened;
      if (opened !== undefined && table === named) return opened;
      const message = `is not listed: the operator adds ${JSON.stringify(table)} to ${setting}.tables in the configuration`;
      throw new PolicyFaults([{ at: `${policyFile}:1:1`, message: `session.tenant.table ${message}` }]);
    },
    findLookup: ({ url, secretVariable }) => {
      const found = lookups.find((one) => one.url === url && one.secretVariable === secretVariable);
      if (found !== undefined) return { allowsPrivate: found.allowPrivateAddresses };
      const fault = `is not listed: the operator adds its url and secretVariable to ${setting}.lookups in the configuration`;
      return { fault };
    },
  };
};

/** `mayRead` null: everything that the policy names. */
export const createReachOf =
  (mayRead: PolicyMayRead | null, policyFile: string): ReachOf =>
  async (named, known) =>
    mayRead === null ? everythingNamed : prepare(mayRead, named, policyFile, known);
