/** Finishes copies of dashboards that a process began to make and could not finish, without waiting for the next login. */
import { Refusal } from '../../model/refusal.js';
import type { Log } from '../../platform/logs/log.js';
import type { Ledger } from '../ledger/ledger.js';
import type { FinishWork } from '../ledger/takeover.js';
import type { Policies } from '../policy/policies.js';
import { policyFor } from '../policy/policy.js';
import { interruptedCopies } from './ledger.js';
import type { Provision } from './provision.js';

export type ResumeOptions = {
  readonly provision: Pick<Provision, 'ensureEach'>;
  readonly ledger: Ledger;
  readonly policies: Policies;
  readonly log: Log;
};

/** Maximum number of copies in one call. */
const atOnce = 50;

type Tenant = { readonly clientId: string; readonly templates: readonly string[] };

const listTenants = async ({ db }: Ledger): Promise<readonly Tenant[]> => {
  const rows = await interruptedCopies(db).select(['tenants.client_id', 'dashboards.template']).limit(atOnce).execute();
  const clients = [...new Set(rows.flatMap(({ client_id }) => client_id ?? []))];
  return clients.map((clientId) => ({
    clientId,
    templates: rows.filter(({ client_id }) => client_id === clientId).map(({ template }) => template),
  }));
};

/** A copy that fails is stored as failed, with its reason, and is no interrupted one any more. */
export const createResumeProvisioning =
  ({ provision, ledger, policies, log }: ResumeOptions): FinishWork =>
  async () => {
    let failures = 0;
    for (const { clientId, templates: names } of await listTenants(ledger)) {
      const policy = policyFor(policies.current(), clientId);
      const templates = names.flatMap((name) => policy.templates.get(name) ?? []);
      try {
        await provision.ensureEach({ policy, templates, clientId });
      } catch (err) {
        // The tenant was suspended or deleted meanwhile.
        if (err instanceof Refusal && err.code === 'TENANT_SUSPENDED') continue;
        failures += 1;
        log.warn(
          { event: 'provision.not_resumed', err, tenant: clientId },
          'interrupted dashboards cannot be made yet; retrying',
        );
      }
    }
    return failures;
  };
