/** The names of tenants beside their ids. Without them every command works as with ids alone. */
import { tenantNamesCommand } from '../gateway/tenant/names.js';
import { callGateway, OperatorError } from './operator.js';

const atOnce = 500;

export type TenantNames = ReadonlyMap<string, string>;

/** Asks the gateway for the names of these tenants. A gateway of an earlier release knows none. */
export const readTenantNames = async (ids: Iterable<string>, url: string | undefined): Promise<TenantNames> => {
  const wanted = [...new Set(ids)];
  const names = new Map<string, string>();
  try {
    for (let at = 0; at < wanted.length; at += atOnce) {
      const answer = await callGateway(tenantNamesCommand, { clientIds: wanted.slice(at, at + atOnce) }, url);
      for (const { clientId, name } of answer.names) names.set(clientId, name);
    }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
  }
  return names;
};

/** Adds the name to what is printed as JSON of a tenant. */
export const withName = <Tenant extends { readonly clientId: string | null }>(
  names: TenantNames,
  tenant: Tenant,
): Tenant & { readonly name?: string } => {
  const name = names.get(tenant.clientId ?? '');
  return name === undefined ? tenant : { ...tenant, name };
};

/** Name and id, as a sentence has them. */
export const tenantText = (names: TenantNames, id: string): string => {
  const name = names.get(id);
  return name === undefined ? id : `${name} (${id})`;
};

/** The column of names, after that of the ids: left out if no name is known. */
export const nameColumn = (
  names: TenantNames,
): { readonly title: readonly string[]; readonly of: (id: string | null) => readonly string[] } =>
  names.size === 0 ? { title: [], of: () => [] } : { title: ['NAME'], of: (id) => [names.get(id ?? '') ?? '-'] };
