/** The operators' commands for the audit. */
import { parse } from 'yaml';
import { z } from 'zod';
import { type ArchiveKeys, pemOf } from '../../platform/keys/archive-keys.js';
import { breathe } from '../../platform/work/breathe.js';
import { type AdminCommand, adminCommand, declareCommand, noInput, readBy } from '../common/admin-command.js';
import type { Eraser } from '../common/eraser.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Policy } from '../policy/policy.js';
import { eraseFromAudit } from './append.js';
import { genesisHash } from './chain.js';
import { auditPage, decided, exportAudit, exportInput, loadExplanation, verification, verifyAudit } from './read.js';
import { auditSearchInput, findInAudit, foundEntries } from './search.js';

const head = z.strictObject({
  seq: z.number().int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/, `64 hex digits, such as ${genesisHash.slice(0, 8)}...`),
});

export const verifyAuditCommand = declareCommand(
  'audit-verify',
  z.strictObject({ head: head.optional() }),
  verification,
  readBy('auditor'),
  { title: 'Verify the audit', description: 'Verifies that the audit is complete and unmodified.' },
);

// Names of users, and what they asked.
export const exportAuditCommand = declareCommand('audit-export', exportInput, auditPage, {
  ...readBy('auditor'),
  reads: 'rows',
});

// Names of users, and what they asked.
export const searchAudit = declareCommand('audit-search', auditSearchInput, foundEntries, {
  ...readBy('auditor'),
  reads: 'rows',
});

export const readExplanation = declareCommand(
  'request-explanation',
  z.strictObject({ requestId: z.string().min(1).max(100) }),
  decided,
  { ...readBy('support', 'auditor'), reads: 'rows' },
  { title: 'Explain a request', description: 'Reads what was decided for an earlier request.' },
);

export const listArchiveKeys = declareCommand(
  'audit-archive-keys',
  noInput,
  z.object({
    keys: z.array(z.object({ id: z.string(), signs: z.boolean(), pem: z.string() })),
  }),
  { reads: 'definitions', isChange: false },
);

/** The public keys of archived segments, the one that signs first. */
const publicKeysOf = ({ id: own, verifier }: ArchiveKeys) =>
  [...verifier].map(([id, key]) => ({ id, signs: id === own, pem: pemOf(key) }));

/**
 * `audit-verify`, `audit-export`, `audit-search`, `request-explanation` and `audit-archive-keys`. Null keys: this gateway
 * has none, and no segment of its audit can be verified.
 */
export const auditCommands = (ledger: Ledger, keys: ArchiveKeys | null): readonly AdminCommand[] => [
  adminCommand(verifyAuditCommand, (input) =>
    verifyAudit(ledger, input.head, keys === null ? {} : { verifier: keys.verifier }),
  ),
  adminCommand(listArchiveKeys, async () => ({ keys: keys === null ? [] : publicKeysOf(keys) })),
  adminCommand(exportAuditCommand, (input) => exportAudit(ledger, input)),
  adminCommand(searchAudit, (input) => findInAudit(ledger, input)),
  adminCommand(readExplanation, ({ requestId }) => loadExplanation(ledger, requestId)),
];

/** Stores a policy's text, so that its decisions can be explained later. */
export const keepPolicyText = async (
  { db }: Ledger,
  { digest, files }: Pick<Policy, 'digest' | 'files'>,
  at: Date,
): Promise<void> => {
  await db
    .insertInto('policy_texts')
    .values({ digest, at, files: JSON.stringify(files) })
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .execute();
};

const policyFiles = z.array(z.object({ text: z.string() }));
const overriding = z.object({ tenants: z.array(z.object({ clientIds: z.array(z.string()) })) });

/**
 * Whether the text could contain the clientId: as it is, or in another spelling with quotes, escapes or folded lines.
 */
const mayName = (text: string, clientId: string): boolean =>
  text.includes(clientId) || text.includes('\\') || /[\s'"]/.test(clientId);

const isOverriddenIn = (text: string, clientId: string): boolean =>
  (mayName(text, clientId) &&
    overriding.safeParse(parse(text)).data?.tenants.some(({ clientIds }) => clientIds.includes(clientId))) ??
  false;

/** Whether a stored policy text has an override for the client. */
const isInPolicies = async ({ db }: Ledger, clientId: string): Promise<boolean> => {
  const texts = db.selectFrom('policy_texts').select(['digest', 'files']).orderBy('digest').limit(1);
  for (let digest = ''; ; ) {
    const row = await texts.where('digest', '>', digest).executeTakeFirst();
    if (row === undefined) return false;
    if (policyFiles.parse(JSON.parse(row.files)).some(({ text }) => isOverriddenIn(text, clientId))) return true;
    digest = row.digest;
    await breathe();
  }
};

/**
 * Destroys the tenant's key. Keeps the policy texts: they belong to the host, and explain other tenants' requests too.
 */
export const auditEraser = (ledger: Ledger): Eraser => ({
  where: 'audit',
  erase: async ({ clientId, tenantRef }, { write }) => ({
    erased: await write((db) => eraseFromAudit(db, tenantRef)),
    left: (await isInPolicies(ledger, clientId))
      ? ['current or earlier policies with an override for it, since they explain requests of other tenants too']
      : [],
  }),
});
