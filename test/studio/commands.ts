/** Every command that the product declares. test/spec/who-may-call.test.ts checks that the product has these and no others. */
import {
  exportAuditCommand,
  readExplanation,
  searchAudit,
  verifyAuditCommand,
} from '../../src/gateway/audit/commands.js';
import { readEmbedFacts } from '../../src/gateway/authenticate/embed-facts.js';
import type { CommandDeclaration } from '../../src/gateway/common/admin-command.js';
import { deleteTenant, readErasure, resumeTenant, suspendTenant } from '../../src/gateway/lifecycle/commands.js';
import { readPolicy, reloadPolicy } from '../../src/gateway/policy/policies.js';
import { checkPolicyNames } from '../../src/gateway/policy-names/name-check.js';
import { provisionTenantsCommand } from '../../src/gateway/provision/commands.js';
import { listTenantsCommand } from '../../src/gateway/provision/tenants-list.js';
import { revoke, unrevoke } from '../../src/gateway/revocation/commands.js';
import {
  applyRollout,
  checkTemplateCommand,
  listEditionsCommand,
  listRollouts,
  planRolloutCommand,
  readRollout,
  readVersion,
  recordTemplateCommand,
  resumeRollout,
  rollBack,
} from '../../src/gateway/rollout/commands.js';
import { checkPolicy, listPolicyWords, savePolicy } from '../../src/policy-tools/draft-commands.js';
import { explainPolicy } from '../../src/policy-tools/explain-command.js';
import { createLink } from '../../src/studio/login-links.js';
import { createOperatorKey, endOperatorKey, listOperatorKeys } from '../../src/studio/operator-keys.js';

export const commands: readonly CommandDeclaration[] = [
  ...[exportAuditCommand, searchAudit, verifyAuditCommand, readExplanation],
  ...[readEmbedFacts, readErasure],
  ...[checkPolicy, explainPolicy, checkPolicyNames, readPolicy, reloadPolicy, savePolicy, listPolicyWords],
  ...[revoke, unrevoke],
  ...[applyRollout, listRollouts, planRolloutCommand, resumeRollout, rollBack, readRollout],
  ...[checkTemplateCommand, listEditionsCommand, recordTemplateCommand, readVersion],
  ...[deleteTenant, resumeTenant, suspendTenant, listTenantsCommand, provisionTenantsCommand],
  ...[createLink, createOperatorKey, endOperatorKey, listOperatorKeys],
];

/** What Studio offers of them, and to whom. */
export const commandRules = Object.fromEntries(
  commands.flatMap(({ name, studio }) => (studio === null ? [] : [[name, studio] as const])),
);
