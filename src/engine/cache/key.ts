import { createHmac } from 'node:crypto';
import { canonicalJson } from '../../domain/canonical-json.js';
import { type TenantScope, untenantedClientId } from '../../domain/datamart/tenant.js';
import type { MetricQuestion } from '../../domain/query/engine.js';
import type { Statement } from '../databases/dialect.js';
import type { Leaf, PageOfRows, TenantScoped } from '../plan/plan.js';
import { toJsonValue } from './json-value.js';

/** What decides which rows there are. The plan is one that `scopeToTenant` made: there is no key without a tenant scope. */
export type CacheKeyParts = {
  readonly question: Pick<
    MetricQuestion,
    'dataAppId' | 'epoch' | 'tenant' | 'datasource' | 'datamart' | 'timezone' | 'joinModel'
  >;
  readonly plan: TenantScoped<{ readonly leaves: readonly Leaf[] }>;
  /** All that may run, by name. */
  readonly statements: Readonly<Record<string, Statement>>;
  readonly page: PageOfRows;
};

/** `prefix` is common to the client's keys, and to no other's. Neither tells a name or a value to whoever lacks the secret. */
export type Key = { readonly text: string; readonly prefix: string };

export type Keys = {
  readonly keyOf: (parts: CacheKeyParts) => Key;
  /** Of the client's keys, or of all the data app's. */
  readonly prefixOf: (dataAppId: string, clientId: string | null) => string;
};

/** To be raised whenever rows of the same statement may be read, counted or kept in another way. */
const formatVersion = 1;

/** How keys of all data apps begin. */
export const keyStart = 'guestlist:rows:';

const clientOf = (tenant: TenantScope): string => (tenant.kind === 'tenant' ? tenant.clientId : untenantedClientId);

/** `secret`: of all replicas. */
export const createKeys = (secret: Buffer): Keys => {
  const markOf = (...parts: readonly unknown[]): string =>
    createHmac('sha256', secret)
      .update(canonicalJson(toJsonValue(parts)))
      .digest('base64url');
  const prefixOf = (dataAppId: string, clientId: string | null): string => {
    const dataApp = `${keyStart}${markOf('dataApp', dataAppId)}:`;
    return clientId === null ? dataApp : `${dataApp}${markOf('client', dataAppId, clientId)}:`;
  };
  const write = ({ question, plan, statements, page }: CacheKeyParts): Key => {
    const { dataAppId, epoch, tenant, datasource, datamart, timezone, joinModel = null } = question;
    const prefix = prefixOf(dataAppId, clientOf(tenant));
    const mark = markOf('rows', formatVersion, {
      ...{ dataAppId, epoch, tenant, datasource, timezone, joinModel },
      database: plan.database,
      datamart: [datamart.id, datamart.updatedAt],
      statements: Object.entries(statements).map(([name, { sql, parameters }]) => [name, sql, parameters]),
      page,
    });
    return { text: prefix + mark, prefix };
  };
  // Of the very same objects, none of which is ever changed: a preparation that is used again.
  const written = new WeakMap<CacheKeyParts['statements'], { readonly of: CacheKeyParts; readonly key: Key }>();
  return {
    prefixOf,
    keyOf: (parts) => {
      const known = written.get(parts.statements);
      if (known !== undefined && isSame(known.of, parts)) return known.key;
      const key = write(parts);
      written.set(parts.statements, { of: parts, key });
      return key;
    },
  };
};

const isSame = (a: CacheKeyParts, b: CacheKeyParts): boolean =>
  a.question === b.question && a.plan === b.plan && a.page === b.page;
