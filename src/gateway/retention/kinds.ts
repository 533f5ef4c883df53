/** What the ledger keeps for a time. */
import { sql } from 'kysely';
import { daysBefore, type Retention } from '../../model/retention.js';
import { type AgedRows, agedKind, type KindRows, noteSwept } from '../../platform/databases/aged-rows.js';
import type { Ledger } from '../ledger/ledger.js';
import { schemaName } from '../ledger/tables.js';
import { type AuditArchive, auditKind, oldEntries } from './archive.js';
import { isAllHeld, isTenantHeld } from './held.js';

export type LedgerTimes = {
  /** Null: the audit is never archived, and nothing of it deleted. */
  readonly archive: AuditArchive | null;
  readonly explanationsDays: number;
  /** Of answers to webhooks. */
  readonly deliveriesDays: number;
  /** Of the last sessions of users, for reports. */
  readonly sessionsDays: number;
};

const rowsOf = (table: string, at: string, days: number, isHeld: AgedRows['isHeld']): AgedRows => ({
  table: `${schemaName}.${table}`,
  isDue: (now) => sql`t.${sql.ref(at)} < ${daysBefore(now, days)}`,
  isHeld,
});

/** All but the audit, which is archived first. */
const plainRows = ({ explanationsDays, deliveriesDays, sessionsDays }: Omit<LedgerTimes, 'archive'>) =>
  [
    { kind: 'explanations', rows: rowsOf('audit_explanations', 'at', explanationsDays, isTenantHeld) },
    { kind: 'hooks', rows: rowsOf('hook_deliveries', 'received_at', deliveriesDays, isAllHeld) },
    { kind: 'sessions', rows: rowsOf('recipients', 'seen_at', sessionsDays, isTenantHeld) },
  ] as const satisfies readonly KindRows[];

/** What would be deleted. `auditDays` null: the audit is not archived. */
export const ledgerRows = ({
  auditDays,
  ...days
}: Omit<LedgerTimes, 'archive'> & { readonly auditDays: number | null }): readonly KindRows[] => [
  ...(auditDays === null ? [] : [{ kind: 'audit', rows: oldEntries(auditDays) } as const]),
  ...plainRows(days),
];

export const ledgerRetention = (ledger: Ledger, { archive, ...days }: LedgerTimes): Retention => ({
  kinds: [
    ...(archive === null ? [] : [auditKind(ledger, archive)]),
    ...plainRows(days).map((kind) => agedKind(ledger.db, schemaName, kind)),
  ],
  noteSwept: (now) => noteSwept(ledger.db, schemaName, now),
});
