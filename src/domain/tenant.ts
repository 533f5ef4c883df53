import type { Brand } from './brand.js';
import type { Datamart } from './datamart.js';
import { Refusal } from './refusal.js';

/** A client id that was checked against a datamart's tenancy. */
export type ClientId = Brand<string, 'ClientId'>;

/** Whose rows a query may touch. There is no value that means "everybody". */
export type TenantScope = { readonly kind: 'tenant'; readonly clientId: ClientId } | { readonly kind: 'untenanted' };

/** The literal that the interface gives for "no tenancy is configured". */
export const untenantedClientId = 'None';

const canonicalInteger = /^(0|-?[1-9][0-9]{0,18})$/;

const refuse = (message: string, reason: string): never => {
  throw new Refusal('CLIENT_ID_ERROR', message, { reason });
};

/**
 * The scope of `clientId` in `datamart`. Throws CLIENT_ID_ERROR where the two do not fit: a missing id, `None` under
 * tenancy, a tenant's id without tenancy, or a NUMBER id that is not canonical (`01`, `1e0` and `1abc` would each
 * compare equal to 1 on some database).
 */
export const tenantScope = (datamart: Datamart, clientId: string): TenantScope => {
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
    refuse(
      `Tenancy level ${tenancy.tenancyLevel} of datamart ${datamart.name} cannot be queried yet.`,
      'tenancy-unsupported',
    );
  } else if (tenancy.clientColumnType === 'NUMBER' && !canonicalInteger.test(clientId)) {
    refuse(
      `Datamart ${datamart.name} has numeric client ids: clientId must be a whole number written plainly, such as 42.`,
      'client-id-not-canonical',
    );
  }
  return { kind: 'tenant', clientId: clientId as ClientId };
};
