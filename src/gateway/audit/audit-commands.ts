/** What operators ask of the audit. */
import { z } from 'zod';
import { type AdminCommand, adminCommand } from '../admin.js';
import type { Eraser } from '../erasure/eraser.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Policy } from '../policy/policy-file.js';
import { eraseFromAudit } from './audit-append.js';
import { genesisHash } from './audit-chain.js';
import { exportAudit, exportInput, loadExplanation, verifyAudit } from './audit-read.js';

const head = z.strictObject({
  seq: z.number().int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/, `64 hex digits, such as ${genesisHash.slice(0, 8)}...`),
});

/** `audit-verify`, `audit-export` and `request-explanation`. */
export const auditCommands = (ledger: Ledger): readonly AdminCommand[] => [
  adminCommand('audit-verify', z.strictObject({ head: head.optional() }), (input) => verifyAudit(ledger, input.head)),
  adminCommand('audit-export', exportInput, (input) => exportAudit(ledger, input)),
  adminCommand('request-explanation', z.strictObject({ requestId: z.string().min(1).max(100) }), ({ requestId }) =>
    loadExplanation(ledger, requestId),
  ),
];

/** Keeps a policy's text, so that what it decided can be explained later. */
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

/** Destroys the tenant's key. */
export const auditEraser = (ledger: Ledger): Eraser => ({
  where: 'audit',
  erase: async ({ tenantRef }) => ({ erased: await eraseFromAudit(ledger, tenantRef) }),
});
