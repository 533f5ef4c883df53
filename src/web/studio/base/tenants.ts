/** The tenants as the gateway lists them. */
import type { Answer, Api } from './api.js';

type Page = Answer<'tenants-list'>;
type Listed = Page['tenants'][number];
export type Tenant = Listed & { readonly usage: NonNullable<Listed['usage']> };
export type Copy = Tenant['dashboards'][number];

export const neverMinted = { mints: 0, lastMintAt: null };
const mostTenants = 5_000;

export const listTenants = async (api: Api, signal: AbortSignal): Promise<readonly Tenant[]> => {
  const all: Tenant[] = [];
  let after: string | null = null;
  do {
    const input = { usage: true, ...(after === null ? {} : { after }) };
    const page: Page = await api.command('tenants-list', input, signal);
    all.push(...page.tenants.map((tenant) => ({ ...tenant, usage: tenant.usage ?? neverMinted })));
    after = page.next;
  } while (after !== null && all.length < mostTenants);
  return all;
};

/** What became of the data of a tenant that was deleted. */
export type Erasure = Answer<'erasure-report'>;
export type ErasureReport = Erasure['reports'][number];
