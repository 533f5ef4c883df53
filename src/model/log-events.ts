/**
 * Every event that the log can hold: its level, its meaning and its fields. docs/reference/logging.md is generated from this table, and
 * the type `Log` refuses a line whose event or field is not in it. Names are `subject.verb`, the verb in the past tense, and
 * never change: operators search and alert by them. Besides its own fields, a line may hold `requestId`, `traceId`, `tenant` and `user`.
 */
type Level = 'debug' | 'info' | 'warn' | 'error';

type Entry = {
  readonly level: Level;
  /** What happened and, if an operator must act, what to do. */
  readonly meaning: string;
  readonly fields?: Readonly<Record<string, string>>;
};

const err = 'name, message, stack and cause of the error';
const code = 'error code of the answer';
const ms = 'duration in milliseconds';
const url = 'address, without its query';
const datasource = 'name of the datasource';
const digest = 'digest of the policy';
const datamart = 'name of the datamart';
const dashboardId = 'id of the dashboard';

/** Fields that say why a request was refused or failed. gateway/http/answer.ts sets them. */
const cause = {
  err,
  reason: 'reason code',
  cause: 'message of the cause',
  upstream: 'status, code and message of the analytics service',
  at: 'place of the policy expression that could not be evaluated',
  expression: 'the expression',
  fault: 'why the expression could not be evaluated',
};
const answered = {
  method: 'HTTP method',
  path: 'path without its query, at most 500 characters',
  status: 'HTTP status',
  durationInMs: ms,
  operation: 'name of the operation; missing if no operation has the path',
  refused:
    'code and reason of a refusal; `message` if the caller got a neutral one; `cause` names metric, filter and way where a restriction does not fit',
};
const hook = { hook: 'kind of the hook', code, isReplay: 'whether the same hook was received before' };
const command = { command: 'name', code, operator: 'who asked', target: 'what the command was about' };
const tokenRequest = { ms, code, mintedBy: 'requestId of the request that minted the token' };

const requests = {
  'theme.contrast': {
    level: 'warn',
    meaning:
      'Readers cannot read, or cannot tell apart, colours of the theme in `theme` (WCAG 2.2 AA). Change its file in `themes.folder`.',
    fields: { theme: 'name of the theme' },
  },
  'renderer.absent': {
    level: 'warn',
    meaning:
      'No Chromium was found at the start. PNG and PDF are answered with 503 until one is installed and named in `renders.chromiumPath`.',
  },
  'request.answered': {
    level: 'info',
    meaning: 'A request to the service was answered with a status below 500.',
    fields: answered,
  },
  'request.failed': {
    level: 'error',
    meaning:
      'A request to the service was answered with a status of 500 or more. An earlier line with the same requestId has the cause.',
    fields: answered,
  },
  'operation.failed': {
    level: 'error',
    meaning: 'An operation failed through a fault of the service. The caller got status 500 and the requestId.',
    fields: { err, operation: 'name of the operation' },
  },
  'operation.part_refused': {
    level: 'info',
    meaning: 'One metric of a dashboard query was refused; the others were answered. `refused` says why.',
    fields: {
      operation: 'name of the operation',
      refused: 'code, reason, message and, where a restriction does not fit, cause of the refusal',
    },
  },
  'operation.interrupted': {
    level: 'error',
    meaning: 'An operation needed a database or server that cannot be reached. The caller got status 503.',
    fields: { err, operation: 'name of the operation' },
  },
  'request.crashed': {
    level: 'error',
    meaning: 'A request failed outside of any operation, for example in a middleware.',
    fields: { err },
  },
  'response.aborted': {
    level: 'error',
    meaning: 'A streamed answer failed after its status was sent. The caller got an incomplete body.',
    fields: { err, operation: 'name of the operation' },
  },
  'response.failed': {
    level: 'error',
    meaning: 'An answer could not be sent; its connection was closed.',
    fields: { err },
  },
  'proxy.ignored': {
    level: 'error',
    meaning:
      'X-Forwarded-For or Forwarded arrives although gateway.limits.trustedProxies is 0, so all callers behind the proxy count as one address. Set it to the number of proxies in front. Logged once.',
    fields: { trustedProxies: 'the setting' },
  },
  'origin.refused': {
    level: 'warn',
    meaning:
      'The browser of a page asked whether the page may call /embed-token, and its origin is not allowed. If the page is yours, add the origin to GUESTLIST_ALLOWED_ORIGINS. Logged at most once a minute for each origin, ten times for all.',
    fields: { origin: 'origin of the page, at most 200 characters', setting: 'the setting that lists allowed origins' },
  },
  'credentials.blocked': {
    level: 'warn',
    meaning: 'One address sent too many wrong credentials and is answered 429 for a minute.',
    fields: { kind: 'kind of the credential', address: 'address of the sender' },
  },
} as const satisfies Readonly<Record<string, Entry>>;

const studio = {
  'studio.refused': {
    level: 'info',
    meaning: 'A request of Studio was refused with a status below 500.',
    fields: { path: 'path without its query, at most 500 characters', code, ...cause },
  },
  'studio.failed': {
    level: 'error',
    meaning: 'A request of Studio failed.',
    fields: { path: 'path without its query, at most 500 characters', code, ...cause },
  },
  'studio.recheck_failed': {
    level: 'warn',
    meaning:
      'The issuer of a login to Studio could not be asked again for its person. The session goes on for studio.recheckGraceMinutes.',
    fields: { err },
  },
  'studio.purge_failed': {
    level: 'warn',
    meaning: 'Expired sessions of Studio, or files of uploads that nothing reads, could not be removed.',
    fields: { err },
  },
} as const satisfies Readonly<Record<string, Entry>>;

const tokens = {
  'token.minted': {
    level: 'info',
    meaning: 'POST /embed-token was answered with a newly minted token.',
    fields: tokenRequest,
  },
  'token.served': {
    level: 'info',
    meaning: 'POST /embed-token was answered with a cached token.',
    fields: tokenRequest,
  },
  'token.denied': {
    level: 'info',
    meaning:
      'POST /embed-token was refused with a status below 500. `code` and `reason` say why: docs/reference/errors.md has who can mend it, and `guestlist policy explain --request` shows the decision.',
    fields: {
      ...tokenRequest,
      ...cause,
      detail: 'why a 403 was answered, for a developer; the answer has a neutral text',
    },
  },
  'token.failed': {
    level: 'error',
    meaning:
      'POST /embed-token was answered with a status of 500 or more: the gateway or the analytics service failed.',
    fields: { ...tokenRequest, ...cause },
  },
  'token.revoked': {
    level: 'info',
    meaning: 'A changed policy no longer grants these tokens; they were revoked or their revocation is being retried.',
    fields: { ended: 'number of tokens', digest },
  },
  'token.all_revoked': {
    level: 'warn',
    meaning:
      'Tokens of an earlier policy may be valid and are not known one by one, so all tokens of the data app are revoked.',
    fields: { digest },
  },
  'token.check_failed': {
    level: 'error',
    meaning:
      'It could not be determined which tokens the changed policy still grants. All are revoked, or the check is retried before the next mint.',
    fields: { err },
  },
  'revocation.delayed': {
    level: 'warn',
    meaning:
      'The analytics service could not revoke tokens. The gateway refuses them already; the call is retried unless the service does not support it.',
    fields: { err, by: 'what was revoked: user, tenant, policy or all', attempts: 'tries so far' },
  },
  'revocation.failed': {
    level: 'error',
    meaning: 'Tokens that the policy no longer grants could not be revoked. The message says whether that is retried.',
    fields: { err, kind: 'policy: all tokens; user: the tokens of one user' },
  },
  'retention.failed': {
    level: 'warn',
    meaning:
      'What is old enough could not be deleted, or entries of the audit could not be archived; retried in an hour. The message says what to do about an archive.',
    fields: { kind: 'what: audit, explanations, sessions, hooks, tokens, deliveries, usage or all', err },
  },
  'hold.tell_failed': {
    level: 'warn',
    meaning:
      'The service could not be told which tenants are held. Until it is, it may delete what is old enough; retried.',
    fields: { err },
  },
  'hold.ended': {
    level: 'warn',
    meaning:
      'A tenant under a hold was erased, so nothing is left that its holds could keep. The audit names the holds.',
    fields: { count: 'number of holds' },
  },
  'revocation.retry_failed': {
    level: 'warn',
    meaning: 'Pending revocations could not be retried; the next try is in 2 s.',
    fields: { err },
  },
  'guest_token.kept': {
    level: 'debug',
    meaning:
      'The analytics service cannot revoke single tokens, so a token that nobody received stays valid until it expires.',
    fields: { err },
  },
  'guest_token.revoke_failed': {
    level: 'warn',
    meaning: 'A token that nobody received could not be revoked; it stays valid until it expires.',
    fields: { err },
  },
  'revocation.note_failed': {
    level: 'error',
    meaning: 'The ledger could not store which tokens were revoked. The next start revokes all tokens.',
    fields: { err },
  },
} as const satisfies Readonly<Record<string, Entry>>;

const tenants = {
  'tenant.provisioned': {
    level: 'info',
    meaning: 'A dashboard was created for a tenant from its template.',
    fields: { dashboardId },
  },
  'provision.failed': {
    level: 'warn',
    meaning: 'A dashboard could not be created or verified for a tenant. A later request retries.',
    fields: { err, template: 'name of the template', reason: 'reason code' },
  },
  'provision.note_failed': {
    level: 'error',
    meaning: 'The ledger could not store that provisioning failed, or that dashboards must be verified again.',
    fields: { err, reason: 'reason code of the failure' },
  },
  'dashboard.distrusted': {
    level: 'error',
    meaning:
      'The copy of a template for this tenant is not as the gateway created it, and is not shown. An operator must act: `mend` says how.',
    fields: { reason: 'reason code', dashboardId, mend: 'what to do' },
  },
  'dashboard.orphaned': {
    level: 'error',
    meaning: 'A dashboard of a deleted tenant could not be deleted. Delete it by hand.',
    fields: { err, dashboardId },
  },
  'template.check_failed': {
    level: 'warn',
    meaning: 'The analytics service did not export a template, so its version is not known.',
    fields: { err, dashboardId },
  },
  'hook.accepted': {
    level: 'info',
    meaning: 'A signed hook of the host or of a provider was applied, or had been applied before.',
    fields: {
      ...hook,
      state: 'state of the tenant afterwards',
      hint: 'why the hook did less than it could, and the mend',
    },
  },
  'hook.ignored': {
    level: 'info',
    meaning:
      'A hook of a provider was accepted, answered 200, and has no effect. `reason` is event-not-mapped, test-event, unsigned-may-only-sign-up or left-out-by-when.',
    fields: { ...hook, reason: 'why it has no effect', type: "the provider's name of the event" },
  },
  'hook.provider_unsigned': {
    level: 'warn',
    meaning:
      'At the start: the provider does not sign the body of its hooks, so they may only sign up. Its other events are ignored.',
    fields: { hook: 'path of the hook' },
  },
  'hook.refused': {
    level: 'warn',
    meaning: 'A hook was refused with a status below 500, for example for its signature.',
    fields: { ...hook, ...cause },
  },
  'hook.failed': {
    level: 'error',
    meaning: 'A hook was answered with a status of 500 or more. The host should send it again.',
    fields: { ...hook, ...cause },
  },
  'erasure.failed': {
    level: 'warn',
    meaning: 'The pending erasure of a tenant could not be completed; it is retried.',
    fields: { err },
  },
  'rollout.interrupted': {
    level: 'error',
    meaning: 'A roll-out of a template was interrupted. This process or another one continues it within seconds.',
    fields: { err, rollout: 'id of the roll-out' },
  },
  'rollout.resumed': {
    level: 'info',
    meaning: 'This process continues an interrupted roll-out.',
    fields: { rollout: 'id of the roll-out' },
  },
  'rollout.not_resumed': {
    level: 'warn',
    meaning: 'An interrupted roll-out cannot be continued yet; this is retried.',
    fields: { err, rollout: 'id of the roll-out' },
  },
  'session_question.failed': {
    level: 'error',
    meaning: 'The host does not say who is logged in (`gateway.session.issuers[].ask`). Logged once for each outage.',
    fields: { url, err },
  },
  'session_question.recovered': {
    level: 'info',
    meaning: 'The host says again who is logged in.',
    fields: { url },
  },
  'tenant_lookup.failed': {
    level: 'error',
    meaning: "The host's tenant lookup fails. Logged once for each outage.",
    fields: { url, err },
  },
  'tenant_lookup.recovered': { level: 'info', meaning: "The host's tenant lookup answers again.", fields: { url } },
  'tenant_names.failed': {
    level: 'warn',
    meaning: 'The names of tenants could not be read, so ids are shown alone. Tried again after 30 seconds.',
    fields: { datamart, err },
  },
  'tenant_table.loaded': {
    level: 'info',
    meaning: 'A changed table of tenants is in force.',
    fields: { file: 'path', keys: 'number of keys' },
  },
  'tenant_table.refused': {
    level: 'error',
    meaning: 'A changed table of tenants has faults. The earlier table stays in force.',
    fields: { file: 'path', faults: 'every fault', keys: 'number of keys of the table in force' },
  },
} as const satisfies Readonly<Record<string, Entry>>;

const operations = {
  'policy.loaded': {
    level: 'info',
    meaning: 'A changed policy is in force.',
    fields: { file: 'path', digest, previous: 'digest of the policy before' },
  },
  'policy.refused': {
    level: 'error',
    meaning: 'A changed policy has faults. The earlier policy stays in force.',
    fields: {
      file: 'path',
      digest: 'digest of the refused files',
      keeps: 'digest of the policy in force',
      faults: 'every fault',
    },
  },
  'policy.name_unknown': {
    level: 'error',
    meaning:
      'The service does not have a name that the policy uses. Users to whom it applies are denied until the name is corrected.',
    fields: { file: 'path', at: 'file:line:column', name: 'the name in the policy' },
  },
  'policy.names_known': {
    level: 'info',
    meaning: 'The service has every name of the policy, after names were unknown or could not be checked.',
    fields: { file: 'path' },
  },
  'policy.names_unchecked': {
    level: 'warn',
    meaning: "The policy's names could not be checked, since the service does not answer. The gateway retries.",
    fields: { err, file: 'path' },
  },
  'policy.load_failed': {
    level: 'error',
    meaning: 'A changed policy could not be loaded; the gateway retries.',
    fields: { file: 'path', err },
  },
  'command.completed': {
    level: 'info',
    meaning: 'An operator ran a command of /gateway/admin.',
    fields: command,
  },
  'command.refused': {
    level: 'warn',
    meaning: 'A command of /gateway/admin was refused with a status below 500.',
    fields: { ...command, ...cause },
  },
  'command.failed': {
    level: 'error',
    meaning: 'A command of /gateway/admin was answered with a status of 500 or more.',
    fields: { ...command, ...cause },
  },
  'audit.anchored': {
    level: 'info',
    meaning: 'The head of the audit chain, every 1000 entries. `guestlist audit verify` can compare the audit with it.',
    fields: { seq: 'number of the last entry', hash: 'hash of the last entry' },
  },
  'audit.write_failed': {
    level: 'error',
    meaning: 'Denials could not be written to the audit.',
    fields: { err, count: 'number of denials' },
  },
  'ledger.disconnected': {
    level: 'error',
    meaning:
      "The gateway's database does not answer. After a second, requests are refused. Logged once for each outage.",
    fields: { err },
  },
  'ledger.recovered': { level: 'info', meaning: "The gateway's database answers again." },
  'upstream.circuit_opened': {
    level: 'error',
    meaning: 'The analytics service failed too often in a row and is not called for `openMs` milliseconds.',
    fields: { circuit: 'open', openMs: 'milliseconds until the next call' },
  },
  'upstream.circuit_closed': {
    level: 'info',
    meaning: 'The analytics service answers again.',
    fields: { circuit: 'closed' },
  },
  'takeover.failed': {
    level: 'warn',
    meaning: 'Work that another process began could not be finished; retried.',
    fields: { err },
  },
  'process.fault': {
    level: 'error',
    meaning:
      'A fault that nothing handled. Its state may be broken, so the process is no longer ready, finishes what it can within `shutdown.graceSeconds` and ends with 1. Report it: it is a fault of Guestlist.',
    fields: { err },
  },
  'process.died': {
    level: 'warn',
    meaning: 'Another gateway process died. This one takes over its work.',
    fields: { processes: 'number of dead processes' },
  },
  'process.replaced': {
    level: 'warn',
    meaning:
      'This process was silent for too long, so other processes took over its work. Look for a stopped or starved process.',
  },
  'provision.not_resumed': {
    level: 'warn',
    meaning: "Making a tenant's dashboards was interrupted, and cannot be continued yet; this is retried.",
    fields: { err, tenant: 'clientId of the tenant' },
  },
  'clock.skewed': {
    level: 'warn',
    meaning:
      "The clock of this process is more than two seconds away from the metadata database's. Set the machine's clock. Leases and schedules go by the database's time; expiry of tokens goes by the process's.",
    fields: { skewMs: 'milliseconds by which the process is ahead; negative: behind' },
  },
  'clock.agrees': { level: 'info', meaning: "The clock of this process agrees with the metadata database's again." },
  'process.heartbeat_failed': {
    level: 'warn',
    meaning: 'The other gateway processes could not be told that this one is alive.',
    fields: { err },
  },
  'process.leave_failed': {
    level: 'warn',
    meaning: 'The other gateway processes could not be told that this one ends.',
    fields: { err },
  },
} as const satisfies Readonly<Record<string, Entry>>;

const queries = {
  'query.failed': {
    level: 'error',
    meaning: 'The datasource answered a query with an error. `err` has its text, which callers never see.',
    fields: { err, datasource },
  },
  'query.stopped': {
    level: 'warn',
    meaning: 'A query was ended before its answer: by a limit, or since its caller disconnected.',
    fields: { datasource, reason: 'reason code' },
  },
  'rollup.built': {
    level: 'info',
    meaning: 'The closed periods of a rollup were built, and are in force.',
    fields: { datamart, rollup: 'name of the rollup' },
  },
  'rollup.build_failed': {
    level: 'warn',
    meaning:
      'A rollup could not be built; the earlier files stay in force. `err` says what to change. Tried again after `refresh.everyMinutes`.',
    fields: { err, datamart, rollup: 'name of the rollup' },
  },
  'rollup.failed': {
    level: 'warn',
    meaning: 'A rollup could not be read, so the source answered. If it happens again, build the rollup anew.',
    fields: { err },
  },
  'questions.warmed': {
    level: 'info',
    meaning:
      'What guests asked lately was asked again, after a rollup was built, after a roll-out, or at the time of `queries.warmUp`. Its answers are kept for the next guest. `err` is the last failure.',
    fields: { asked: 'number of questions', failed: 'number of questions that failed', err },
  },
  'query.cancel_failed': {
    level: 'warn',
    meaning: 'A query could not be cancelled at the datasource; the server ends it at its time limit.',
    fields: { err, datasource },
  },
  'datasource.open_failed': {
    level: 'error',
    meaning: 'A datasource could not be opened, so its queries fail.',
    fields: { err, datasource, reason: 'reason code' },
  },
  'datasource.sync_failed': {
    level: 'error',
    meaning: 'The tables of a datasource could not be read.',
    fields: { err, datasource },
  },
  'datasource.close_failed': {
    level: 'warn',
    meaning: 'The connections of an idle datasource could not be closed.',
    fields: { err },
  },
  'datamart.table_refused': {
    level: 'error',
    meaning:
      'Every query on a table of a stored datamart is refused, since the tenancy of its rows is not declared. The message says what to declare.',
    fields: { datamart, table: 'schema and name' },
  },
  'datamart.check_failed': {
    level: 'error',
    meaning:
      'It could not be checked whether the tables of a datamart declare their tenancy. Queries decide for themselves.',
    fields: { datamart, tables: 'tables that declare nothing', err },
  },
  'cache.renewal_failed': {
    level: 'warn',
    meaning: 'An answer that was older than the cache keeps answers could not be read anew. The next reader tries it.',
    fields: { err },
  },
  'cache.delete_failed': {
    level: 'warn',
    meaning: 'Cached rows in Redis could not be deleted. No key leads to them, and they expire.',
    fields: { err },
  },
} as const satisfies Readonly<Record<string, Entry>>;

const usageMessageFields = {
  channel: 'name of the channel',
  messageId: 'id of the message, which the receiver gets as `webhook-id`',
  hour: 'when the hour begins',
  attempts: 'number of attempts so far',
};

const infrastructure = {
  'redis.disconnected': {
    level: 'error',
    meaning: 'Redis cannot be reached or written to; the process continues without it. Logged once for each outage.',
    fields: { use: 'cache or limits', err },
  },
  'redis.recovered': { level: 'info', meaning: 'Redis answers again.', fields: { use: 'cache or limits' } },
  'redis.subscribe_failed': {
    level: 'debug',
    meaning: "The connection for replicas' messages failed; it reconnects by itself.",
    fields: { err },
  },
  'metadata.disconnected': {
    level: 'warn',
    meaning: 'The metadata database does not answer; the process probes it until it does.',
  },
  'metadata.recovered': { level: 'warn', meaning: 'The metadata database answers again.' },
  'metadata.connection_lost': {
    level: 'warn',
    meaning: 'A connection to the metadata database broke; the pool replaces it.',
    fields: { err },
  },
  'snapshot.taken': {
    level: 'info',
    meaning: 'The embedded database was copied for `guestlist backup`. Other statements waited meanwhile.',
    fields: { durationInMs: ms },
  },
  'snapshot.failed': {
    level: 'warn',
    meaning: 'The embedded database could not be copied for `guestlist backup`, which says why too.',
    fields: { err },
  },
  'mark.write_failed': {
    level: 'warn',
    meaning:
      'The high-water mark of the embedded database could not be written. A loss of newer writes would not be noticed.',
    fields: { err },
  },
  'loss.accepted': {
    level: 'warn',
    meaning:
      'The embedded database lost acknowledged writes, or the encryption key was lost, and the operator accepted that with --accept-loss.',
    fields: {
      why: 'what is missing',
      firstEntry: 'first missing audit entry',
      lastEntry: 'last missing audit entry',
      lostBytes: 'missing bytes of the write-ahead log',
      markedAt: 'when the mark was written',
    },
  },
  'loss.not_found': {
    level: 'warn',
    meaning: 'The embedded database lost nothing. Remove --accept-loss from the start command.',
  },
  'setting.unknown': {
    level: 'warn',
    meaning:
      'An environment variable begins with GUESTLIST_ and is not a setting, so it is ignored. Correct its name, or remove it.',
    fields: { variable: 'its name', suggestion: 'the setting that was probably meant, if one has a similar name' },
  },
  'jwks.failed': {
    level: 'error',
    meaning:
      "An issuer's JWKS cannot be read: sessions signed with an unknown key are refused. Logged once for each outage.",
    fields: { url, err },
  },
  'jwks.recovered': { level: 'info', meaning: "An issuer's JWKS can be read again.", fields: { url } },
  'jwks.key_ignored': {
    level: 'warn',
    meaning: "An issuer's JWKS has RSA keys that are too short; they are ignored.",
    fields: { url },
  },
  'readiness.check_failed': {
    level: 'warn',
    meaning: 'A check of /readyz failed, so the process reports that it is not ready.',
    fields: { check: 'name of the check', err, fix: 'how to fix it, if that is known' },
  },
  'last_use.write_failed': {
    level: 'warn',
    meaning: 'The last use of credentials could not be stored; retried within a minute.',
    fields: { err },
  },
  'usage.write_failed': {
    level: 'warn',
    meaning: 'What was used could not be stored; it is kept, and retried within a second.',
    fields: { err },
  },
  'usage.journal_failed': {
    level: 'warn',
    meaning:
      'What was used could not be kept in the data folder. Answers wait for the metadata database meanwhile, which is slower and as exact. Free space, or make the folder writable.',
    fields: { folder: 'the folder', err },
  },
  'usage.recovered': {
    level: 'info',
    meaning: 'Counts were stored that a killed process had left in the data folder.',
    fields: { lines: 'number of counts' },
  },
  'usage.recovery_failed': {
    level: 'warn',
    meaning: 'Counts that a killed process had left in the data folder could not be stored; retried in 10 seconds.',
    fields: { err },
  },
  'usage.file_set_aside': {
    level: 'warn',
    meaning:
      'A file that a killed process had left has counts that cannot be stored: it is damaged, or older than 31 days. Its other counts were stored. It names tenants, and is deleted after 31 days: look at it, or delete it.',
    fields: { file: 'path of the file', lines: 'number of lines that were not counted', reason: 'damaged or old' },
  },
  'running.write_failed': {
    level: 'warn',
    meaning: 'The other processes could not be told what runs in this one; retried within a second.',
    fields: { err },
  },
  'work.ended': {
    level: 'info',
    meaning: 'An operator ended a query, a download, a build or a roll-out that ran in this process.',
    fields: { kind: 'what it was', number: 'its number in this process' },
  },
  'usage.report_failed': {
    level: 'warn',
    meaning: 'The gateway could not tell the service of logins. They are kept, and told again each second.',
    fields: { err },
  },
  'usage.sent': {
    level: 'info',
    meaning: 'The billing system took what was used in an hour.',
    fields: usageMessageFields,
  },
  'usage.send_failed': {
    level: 'warn',
    meaning: 'The billing system did not take what was used in an hour. It is sent again, and later hours wait.',
    fields: {
      ...usageMessageFields,
      reason: 'refused, unreachable, unanswered, or barred: its address may not be reached',
      status: 'status of its answer',
    },
  },
  'usage.round_failed': {
    level: 'warn',
    meaning: 'Hours of what was used could not be closed or read. The next round follows in a minute.',
    fields: { err },
  },
  'demo.failed': { level: 'error', meaning: "The demo's data could not be made, so its charts fail.", fields: { err } },
  'start.cleanup_failed': {
    level: 'error',
    meaning: 'A failed start could not close everything that it had opened.',
    fields: { err },
  },
  'shutdown.started': {
    level: 'info',
    meaning: 'The process stops: it finishes running requests and then closes.',
    fields: {
      noticeMs: 'how long requests are still accepted',
      cutAfterMs: 'when running requests are cut',
      requests: 'running requests',
    },
  },
  'shutdown.request_cut': {
    level: 'warn',
    meaning: 'A request still ran at the deadline of the shutdown and was cut.',
    fields: { method: 'HTTP method', path: 'path without its query', ms },
  },
  'shutdown.connection_cut': {
    level: 'warn',
    meaning: 'Connections were cut at the deadline of the shutdown, with half a request sent or an answer not read.',
    fields: { halfSent: 'number of connections' },
  },
} as const satisfies Readonly<Record<string, Entry>>;

const deliveryFields = {
  deliveryId: 'id of the delivery',
  scheduleId: 'id of the schedule',
  attempts: 'number of attempts so far',
};
const chats = {
  'chat.ended': {
    level: 'info',
    meaning: 'A question in words was answered, or could not be. The line has no text of it.',
    fields: {
      llmName: 'name of the model',
      rounds: 'answers of the model',
      tokens: 'tokens, as the model counts them',
      tried: 'metrics that the model tried',
      outcome: 'metric, text, limit (nothing within the limits) or failed',
      durationInMs: ms,
    },
  },
} as const satisfies Readonly<Record<string, Entry>>;

const deliveries = {
  'delivery.ended': {
    level: 'info',
    meaning:
      'An attempt to send a report, or to check an alert, ended. `due`: it is tried again later. docs/how-to/reports.md says what each `reason` means.',
    fields: {
      ...deliveryFields,
      state: 'sent, failed, skipped or due',
      reason: 'why it was not sent',
      cause: 'what the mail server did, in words',
      setting: 'the setting or variable to change',
      mend: 'what to do',
      status: 'status of the answer of the mail server or the channel',
    },
  },
  'delivery.lease_lost': {
    level: 'info',
    meaning: 'A report was left alone: another sender has it, or its schedule was deleted or paused meanwhile.',
    fields: deliveryFields,
  },
  'delivery.round_failed': {
    level: 'warn',
    meaning: 'Reports could not be planned, claimed or removed. The next round follows in seconds.',
    fields: { err },
  },
  'delivery.attempt_failed': {
    level: 'warn',
    meaning: 'The right to a report could not be decided, or the report could not be read. It is tried again later.',
    fields: { ...deliveryFields, reason: 'what failed', err },
  },
} as const satisfies Readonly<Record<string, Entry>>;

/** Events grouped by the chapters of docs/reference/logging.md. */
export const logChapters = {
  'Requests to the service': requests,
  Studio: studio,
  'Tokens and revocation': tokens,
  'Tenants, dashboards and hooks': tenants,
  'Policy, operators and gateway processes': operations,
  'Queries and datasources': queries,
  'Questions in words': chats,
  Reports: deliveries,
  'Infrastructure, start and stop': infrastructure,
} as const;

type Events = typeof requests &
  typeof studio &
  typeof tokens &
  typeof tenants &
  typeof operations &
  typeof queries &
  typeof chats &
  typeof deliveries &
  typeof infrastructure;

export type LogEvent = keyof Events;
type EventOf<Of extends Level> = { [Event in LogEvent]: Events[Event]['level'] extends Of ? Event : never }[LogEvent];
type FieldOf<Event extends LogEvent> = Events[Event] extends { readonly fields: infer Fields } ? keyof Fields : never;
type LineOf<Event extends LogEvent> = { readonly event: Event } & {
  readonly [Field in FieldOf<Event> | 'requestId' | 'traceId' | 'tenant' | 'user']?: unknown;
};
type Write<Of extends Level> = <Event extends EventOf<Of>>(line: LineOf<Event>, message: string) => void;

/** Writes log lines of known events, each at the level of its event. `createLog` of the platform creates one. */
export type Log = { readonly [Of in Level]: Write<Of> };
