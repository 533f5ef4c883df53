/** Every command that can be called, as it is declared beside its function. The oracles read it, and Studio's pages its types. */
import {
  exportAuditCommand,
  listArchiveKeys,
  readExplanation,
  searchAudit,
  verifyAuditCommand,
} from '../gateway/audit/commands.js';
import { readEmbedFacts } from '../gateway/authenticate/embed-facts.js';
import { deleteTenant, readErasure, resumeTenant, suspendTenant } from '../gateway/lifecycle/commands.js';
import { readPolicy, reloadPolicy } from '../gateway/policy/policies.js';
import { checkPolicyNames } from '../gateway/policy-names/name-check.js';
import { draftAccess } from '../gateway/policy-tools/access-command.js';
import { checkCardsCommand } from '../gateway/policy-tools/cards-command.js';
import { checkPolicy, listPolicyWords, savePolicy } from '../gateway/policy-tools/draft-commands.js';
import { explainPolicy } from '../gateway/policy-tools/explain-command.js';
import { provisionTenantsCommand } from '../gateway/provision/commands.js';
import { listTenantsCommand } from '../gateway/provision/tenants-list.js';
import { addHold, listHolds, removeHold } from '../gateway/retention/commands.js';
import { revoke, unrevoke } from '../gateway/revocation/commands.js';
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
} from '../gateway/rollout/commands.js';
import { tenantNamesCommand } from '../gateway/tenant/names.js';
import { listViewers } from '../gateway/viewers.js';
import type { AnswerOf, Callable, InputOf } from '../platform/http/interface/callable.js';
import { createKey, rotateKey } from '../studio/keys.js';
import { createLink } from '../studio/login-links.js';
import { createOperatorKey, endOperatorKey, listOperatorKeys } from '../studio/operator-keys.js';
import { endSessions, listSessions } from '../studio/people.js';
import {
  listSigningKeys,
  listSlowQueries,
  readAnswerHistory,
  readPlan,
  readSystemCommand,
} from '../studio/process-commands.js';
import { previewReport } from '../studio/report-preview.js';
import { listSchedules, pauseSchedule, resumeSchedule } from '../studio/schedules.js';
import { searchCommand } from '../studio/search.js';
import { listUploads } from '../studio/uploads.js';
import { describeMetric, openView, previewMetric, turnMetricIntoSql } from '../studio/view-commands.js';

export const gatewayCommands = [
  ...[exportAuditCommand, searchAudit, verifyAuditCommand, readExplanation, listArchiveKeys],
  ...[addHold, listHolds, removeHold],
  ...[readEmbedFacts, readErasure],
  ...[
    checkPolicy,
    checkCardsCommand,
    explainPolicy,
    checkPolicyNames,
    readPolicy,
    reloadPolicy,
    savePolicy,
    listPolicyWords,
    draftAccess,
  ],
  ...[revoke, unrevoke],
  ...[applyRollout, listRollouts, planRolloutCommand, resumeRollout, rollBack, readRollout],
  ...[checkTemplateCommand, listEditionsCommand, recordTemplateCommand, readVersion],
  ...[deleteTenant, resumeTenant, suspendTenant, listTenantsCommand, tenantNamesCommand, provisionTenantsCommand],
  listViewers,
  ...[createLink, createOperatorKey, endOperatorKey, listOperatorKeys],
];

/** Those that Studio has alone. */
export const studioCommands = [
  ...[readSystemCommand, listSlowQueries, readAnswerHistory, readPlan, listSigningKeys],
  ...[listSchedules, pauseSchedule, resumeSchedule],
  ...[listSessions, endSessions, createKey, rotateKey, searchCommand, listUploads],
  ...[openView, previewMetric, describeMetric, turnMetricIntoSql, previewReport],
];

type Command = (typeof gatewayCommands | typeof studioCommands)[number];
export type CommandName = Command['name'];
/** What a caller of the command sends, and what it reads. */
export type CommandInput<Name extends CommandName> = InputOf<Extract<Command, { name: Name }>>;
export type Answer<Name extends CommandName> = AnswerOf<Extract<Command, { name: Name }>>;

/** Those that Studio offers, by name. */
export const commandRules = Object.fromEntries(
  [...gatewayCommands, ...studioCommands].flatMap((command: Callable) => {
    const { name, roles } = command;
    return roles === undefined ? [] : [[name, { ...command, roles }] as const];
  }),
);
