import type { Brand } from '../brand.js';
import { Refusal } from '../refusal.js';
import type { Datamart } from './datamart.js';

/** A client id that was checked against a datamart's tenancy. */
export type ClientId = Brand<string, 'ClientId'>;

/** The name of a whole database of a client's, found on its datasource's synced list: the store alone makes one. */
export type ClientDatabase = Brand<string, 'ClientDatabase'>;

/**
 * Whose rows a query may touch. There is no value that means "everybody". `database`: the one that holds this client's copy of the
 * tables; null where the tables hold all clients' rows.
 */
export type TenantScope =
  | { readonly kind: 'tenant'; readonly clientId: ClientId; readonly database: ClientDatabase | null }
  | { readonly kind: 'untenanted' };

/** The client as a database is told of it; untenanted: empty, which is no client's id. */
export const clientOf = (tenant: TenantScope): string => (tenant.kind === 'tenant' ? tenant.clientId : '');

/** The literal that the interface gives for "no tenancy is configured". */
export const untenantedClientId = 'None';

const canonicalInteger = /^(0|-?[1-9][0-9]{0,18})$/;

const refuse: (message: string, reason: string) => never = (message, reason) => {
  throw new Refusal('CLIENT_ID_ERROR', message, { reason });
};

/**
 * The scope of `clientId` in `datamart`. Throws CLIENT_ID_ERROR where the two do not fit: a missing id, `None` under
 * tenancy, a tenant's id without tenancy, or a NUMBER id that is not canonical (`01`, `1e0` and `1abc` would each
 * compare equal to 1 on some database). Where each client has a whole database, `listed` is what the store found under exactly this
 * name; what is not on the list, the primary database, and what was not looked up are refused alike.
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
