/** The tenants as the gateway lists them. */
import type { Api } from './api.js';

export type Copy = {
  readonly template: string;
  readonly dashboardId: string;
  readonly templateVersion: string | null;
  readonly step: string;
  readonly verifiedAt: string | null;
  readonly failure: unknown;
};
export type Tenant = {
  readonly clientId: string | null;
  readonly tenantRef: string;
  readonly state: 'active' | 'suspended' | 'deleted';
  readonly occurredAt: string | null;
  readonly createdAt: string;
  readonly outcome: string;
  readonly dashboards: readonly Copy[];
  /** The tokens that were minted for its users. */
  readonly usage: { readonly mints: number; readonly lastMintAt: string | null };
};
type Page = { readonly tenants: readonly Tenant[]; readonly next: string | null };

const mostTenants = 5_000;

export const listTenants = async (api: Api, signal: AbortSignal): Promise<readonly Tenant[]> => {
  const all: Tenant[] = [];
  let after: string | null = null;
  do {
    const input: object = { usage: true, ...(after === null ? {} : { after }) };
    const page: Page = await api.command<Page>('tenants-list', input, signal);
    all.push(...page.tenants);
    after = page.next;
  } while (after !== null && all.length < mostTenants);
  return all;
};

/** What became of the data of a tenant that was deleted. */
export type ErasureReport = {
  readonly deletedAt: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly steps: readonly {
    readonly where: string;
    readonly erased: Readonly<Record<string, number>>;
    readonly left: readonly string[];
  }[];
};
export type Erasure = {
  readonly state: string | null;
  readonly isErasureOwed: boolean;
  readonly reports: readonly ErasureReport[];
};
