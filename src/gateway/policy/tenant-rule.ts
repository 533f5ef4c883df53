/** The policy's rule for the tenants of a session, `session.tenant`, compiled and checked. tenant/resolve.ts applies it. */
import { isLoopback } from '../../platform/addresses/addresses.js';
import type { Source } from '../../platform/files/yaml-source.js';
import type { Expression, SessionVariables } from './expression.js';
import type { PolicyReach } from './reach.js';
import type { TenantDocument, TenantHttpDocument } from './schema.js';
import { type Faults, PolicyFaults } from './source.js';
import type { TenantTableFile } from './tenant-table.js';

/** A lookup at the host. `at` is the place of its secret's variable, as `file:line:column`. */
export type TenantHttp = Omit<TenantHttpDocument, 'allowHttp'> & {
  readonly at: string;
  /** Whether the host may have an address of the operator's own network. */
  readonly allowsPrivate: boolean;
};

/** The compiled rule. `key` evaluates to the tenants, or to the keys of the lookup. */
export type TenantRule = { readonly key: Expression<SessionVariables> } & (
  | { readonly by: 'expression' }
  | { readonly by: 'table'; readonly table: TenantTableFile }
  | { readonly by: 'http'; readonly http: TenantHttp }
);

export type TenantSurroundings = {
  readonly source: Source;
  readonly faults: Faults;
  /** The policy file; a table's path is relative to it. */
  readonly file: string;
  readonly reach: PolicyReach;
  readonly compile: (path: readonly string[], text: string) => Expression<SessionVariables>;
};

const path = ['session', 'tenant'];

/** Returns the fault of a URL, or undefined. The fault does not contain the URL, which may contain a secret. */
const urlFault = (url: string, allowHttp: boolean): string | undefined => {
  if (!URL.canParse(url)) return 'is no URL: write https://...';
  const { protocol, hostname, username, password, hash } = new URL(url);
  if (username !== '' || password !== '') return 'holds a user or password: requests are signed instead; take it out';
  if (hash !== '') return 'has a fragment, which is never sent: take it out';
  if (protocol === 'https:' || (protocol === 'http:' && (allowHttp || isLoopback(hostname)))) return undefined;
  return protocol === 'http:'
    ? 'must be https, or plain http on this machine; allowHttp: true lets it be plain http elsewhere'
    : 'must be https';
};

const compileHttp = (document: TenantHttpDocument, { source, faults, reach }: TenantSurroundings): TenantHttp => {
  const { allowHttp, ...http } = document;
  const found = reach.findLookup(http);
  const fault = urlFault(http.url, allowHttp) ?? ('fault' in found ? found.fault : undefined);
  if (fault !== undefined) faults.add(source.offsetOf([...path, 'http', 'url']), `session.tenant.http.url: ${fault}`);
  const allowsPrivate = 'allowsPrivate' in found && found.allowsPrivate;
  return { ...http, at: source.at(source.offsetOf([...path, 'http', 'secretVariable'])), allowsPrivate };
};

/**
 * Loads the table of a policy. Its faults are reported together with those of the policy, each with its place in its
 * own file.
 */
const loadTable = (table: string, { source, faults, file, reach }: TenantSurroundings): TenantTableFile | undefined => {
  try {
    return reach.openTable(table, file);
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    faults.addElsewhere(source.offsetOf([...path, 'table']), error.faults);
    return undefined;
  }
};

/** Compiles `session.tenant`. Faults are collected; a rule with a fault is a placeholder, because the load fails later. */
export const compileTenantRule = (document: TenantDocument, surroundings: TenantSurroundings): TenantRule => {
  if (typeof document === 'string') return { by: 'expression', key: surroundings.compile(path, document) };
  const key = surroundings.compile([...path, 'key'], document.key);
  if (document.http !== undefined) return { by: 'http', key, http: compileHttp(document.http, surroundings) };
  const table = document.table === undefined ? undefined : loadTable(document.table, surroundings);
  return table === undefined ? { by: 'expression', key } : { by: 'table', key, table };
};

export const tableOf = (rule: TenantRule): TenantTableFile | undefined =>
  rule.by === 'table' ? rule.table : undefined;

/** Ends the background work of a policy's rule. Requests that still use the rule continue to work. */
export const closeTenantRule = (rule: TenantRule): void => {
  if (rule.by === 'table') rule.table.close();
};
