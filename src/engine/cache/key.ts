import { createHmac } from 'node:crypto';
import { canonicalJson } from '../../model/canonical-json.js';
import { type TenantScope, untenantedClientId } from '../../model/datamart/tenant.js';
import type { MetricQuestion } from '../../model/query/engine.js';
import type { Statement } from '../dialect/dialect.js';
import type { Leaf, PageOfRows, TenantScoped } from '../plan/plan.js';

/**
 * Everything that decides which rows an answer has. The plan went through `scopeToTenant`, so every key includes a
 * tenant scope.
 */
export type CacheKeyParts = {
  readonly question: Pick<
    MetricQuestion,
    'dataAppId' | 'epoch' | 'tenant' | 'datasource' | 'datamart' | 'timezone' | 'joinModel'
  >;
  readonly plan: TenantScoped<{ readonly leaves: readonly Leaf[] }>;
  /** All statements that may run, by name. */
  readonly statements: Readonly<Record<string, Statement>>;
  readonly page: PageOfRows;
};

/**
 * `prefix` is the same for all keys of a client, and for no other client's. Without the secret, neither reveals a
 * name or a value.
 */
export type Key = { readonly text: string; readonly prefix: string };

export type Keys = {
  readonly keyOf: (parts: CacheKeyParts) => Key;
  /** The prefix of the client's keys; null: of all keys of the data app. */
  readonly prefixOf: (dataAppId: string, clientId: string | null) => string;
};

/** Increment whenever rows of the same statement are read, counted or stored differently. */
const formatVersion = 1;

/** The prefix of all keys. */
const keyStart = 'guestlist:rows:';

const clientOf = (tenant: TenantScope): string => (tenant.kind === 'tenant' ? tenant.clientId : untenantedClientId);

/** `secret` must be the same for all replicas. */
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
      datamart: [datamart.id, datamart.updatedAt, datamart.ruled?.key ?? null],
      statements: Object.entries(statements).map(([name, { sql, parameters }]) => [name, sql, parameters]),
      page,
    });
    return { text: prefix + mark, prefix };
  };
  // A cached plan reuses the same immutable objects, so their key is computed once.
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

/**
 * The value as JSON that no other value produces. Throws NotJson for values that JSON would change (NaN becomes null,
 * a Map becomes `{}`): two different questions must never get the same key.
 */
export const toJsonValue = (value: unknown): unknown => {
  if (value === null || ['string', 'boolean', 'undefined'].includes(typeof value) || Number.isFinite(value))
    return value;
  if (Array.isArray(value))
    return value.map((item) => (item === undefined ? refuseValue('undefined') : toJsonValue(item)));
  if (value instanceof Date) return { $date: value.toISOString() };
  if (typeof value !== 'object' || ![Object.prototype, null].includes(Object.getPrototypeOf(value)))
    return refuseValue(typeof value);
  const members = Object.entries(value);
  return Object.hasOwn(value, '$date')
    ? refuseValue('$date')
    : Object.fromEntries(members.map(([k, v]) => [k, toJsonValue(v)]));
};

const refuseValue = (what: string): never => {
  throw new NotJson(`a ${what} cannot be part of a cache's key`);
};

export class NotJson extends TypeError {
  override readonly name = 'NotJson';
}
