import type { Brand } from '../brand.js';
import type { Reason } from '../reasons.js';
import { Refusal } from '../refusal.js';
import type { Datamart } from './datamart.js';

/** A client id that was checked against a datamart's tenancy. */
export type ClientId = Brand<string, 'ClientId'>;

/**
 * The name of a client database that is on its datasource's synced list. Only the store creates values of this type.
 */
export type ClientDatabase = Brand<string, 'ClientDatabase'>;

/**
 * The client whose rows a query may read. No value means "all clients". `database` is the client database that holds
 * the tables; null if the tables hold rows of all clients.
 */
export type TenantScope =
  | { readonly kind: 'tenant'; readonly clientId: ClientId; readonly database: ClientDatabase | null }
  | { readonly kind: 'untenanted' };

/** Returns the client id for use in a query; empty, which is never a valid id, if the scope is untenanted. */
export const clientOf = (tenant: TenantScope): string => (tenant.kind === 'tenant' ? tenant.clientId : '');

/** The literal that the interface uses for "no tenancy is configured". */
export const untenantedClientId = 'None';

const canonicalInteger = /^(0|-?[1-9][0-9]{0,18})$/;

const refuse: (message: string, reason: Reason) => never = (message, reason) => {
  throw new Refusal('CLIENT_ID_ERROR', message, { reason });
};

/**
 * Returns the scope of `clientId` in `datamart`. Throws CLIENT_ID_ERROR if they do not fit: a missing id, `None` under
 * tenancy, a tenant's id without tenancy, or a NUMBER id that is not canonical (some databases treat `01`, `1e0` or
 * `1abc` as equal to 1). If each client has its own database, `listed` is the database that the store found under
 * exactly this name. An unlisted database, the primary database and a missing `listed` are refused in the same way.
 */
export const tenantScope = (datamart: Datamart, clientId: string, listed?: ClientDatabase): TenantScope => {
  if (clientId === '') refuse('clientId must not be empty.', 'client-id-empty');
  const { tenancy } = datamart;
  if (tenancy === null) {
    if (clientId !== untenantedClientId) {
      refuse(
        `Datamart ${datamart.name} has no tenancy configured, so the only clientId is "None"; set tenancySettings to separate clients.`,
        'untenanted-datamart',
      );
    }
    return { kind: 'untenanted' };
  }
  if (clientId === untenantedClientId) {
    refuse(
      `Datamart ${datamart.name} separates clients, so clientId "None" is refused; name the client.`,
      'none-under-tenancy',
    );
  }
  if (tenancy.tenancyLevel !== 'TABLE') {
    return { kind: 'tenant', clientId: clientId as ClientId, database: ownDatabase(datamart, clientId, listed) };
  }
  if (tenancy.clientColumnType === 'NUMBER' && !canonicalInteger.test(clientId)) {
    refuse(
      `Datamart ${datamart.name} has numeric client ids: clientId must be a whole number written plainly, such as 42.`,
      'client-id-not-canonical',
    );
  }
  return { kind: 'tenant', clientId: clientId as ClientId, database: null };
};

const ownDatabase = (
  { name, tenancy }: Datamart,
  clientId: string,
  listed: ClientDatabase | undefined,
): ClientDatabase => {
  const isPrimary = tenancy !== null && tenancy.tenancyLevel !== 'TABLE' && tenancy.primaryDatabase === clientId;
  if (listed !== undefined && listed === clientId && !isPrimary) return listed;
  return refuse(
    `Datamart ${name} keeps each client in a database of its own, and the datasource's list has none for this clientId (case counts); make it and call POST /datasource/sync.`,
    'client-database-unlisted',
  );
};
