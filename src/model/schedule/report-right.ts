/** By whose right a message is read. The gateway decides it, for a user who is away. */
import type { TenantUser } from './recipients.js';
import type { ScheduleOwner } from './schedule.js';

/** A guest token as the user would get it now, and the claims of the user's last session. */
export type ReportRight = {
  readonly token: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Names of channels by the id of the dashboard or embed that may go there now. */
  readonly channels: ReadonlyMap<string, readonly string[]>;
  /** What the user may send to others of the tenant now, as in a grant. */
  readonly scheduling: ReadonlyMap<string, readonly string[]>;
  readonly roles: readonly string[];
};

/**
 * Returns null if the user may see nothing now. Rejects if that could not be decided. `requestId` names the decision in
 * the audit.
 */
export type FindReportRight = (
  subject: Omit<ScheduleOwner, 'dataAppId'>,
  requestId: string,
) => Promise<ReportRight | null>;

/** Leaves out users who were revoked; of a suspended tenant there are none. */
export type ListTenantUsers = (clientId: string) => Promise<readonly TenantUser[]>;

/** Whether the tenant may have tokens: it is neither suspended nor deleted. Rejects if that is not known. */
export type IsTenantActive = (clientId: string) => Promise<boolean>;
