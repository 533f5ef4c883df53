/**
 * The users of a tenant whose last session is known, with the roles that the policy in force reads from it. It only says
 * who they are: what one of them may see is decided by report-right.ts.
 */
import { Refusal } from '../model/refusal.js';
import type { IsTenantActive, ListTenantUsers } from '../model/schedule/open-report.js';
import type { TenantUser } from '../model/schedule/recipients.js';
import type { Session } from './authenticate/signed-session.js';
import type { EmbedTokenSteps } from './embed-token.js';
import type { TenantAccess } from './lifecycle/access.js';
import { rolesOf } from './policy/decide.js';
import { ExpressionFault } from './policy/expression.js';
import type { Policy } from './policy/policy.js';
import type { Recipients } from './recipients.js';

export const createIsTenantActive =
  (access: Pick<TenantAccess, 'assertTenant'>): IsTenantActive =>
  async (clientId) => {
    try {
      await access.assertTenant(clientId);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'TENANT_SUSPENDED') return false;
      throw error;
    }
  };

type Options = {
  readonly steps: Pick<EmbedTokenSteps, 'access' | 'policies'>;
  readonly recipients: Pick<Recipients, 'list'>;
};

/** A user whose roles cannot be read has none. */
const readRoles = (policy: Policy, session: Session): readonly string[] => {
  try {
    return rolesOf(policy, session);
  } catch (error) {
    if (error instanceof ExpressionFault) return [];
    throw error;
  }
};

export const createListTenantUsers =
  ({ steps: { access, policies }, recipients }: Options): ListTenantUsers =>
  async (clientId) => {
    const policy = policies.current();
    const users: TenantUser[] = [];
    for (const session of await recipients.list(clientId)) {
      try {
        await access(session, clientId);
        const { userIdentifier, claims } = session;
        users.push({ userIdentifier, claims, roles: readRoles(policy, session) });
      } catch (error) {
        const isRefused = error instanceof Refusal && ['SESSION_INVALID', 'TENANT_SUSPENDED'].includes(error.code);
        if (!isRefused) throw error;
      }
    }
    return users;
  };
