import type { Audit, AuditEvent } from '../../src/gateway/audit/audit.js';

/** An audit that keeps its events in memory, for tests of gateways that are not about the audit. */
export const createRecordingAudit = (): Audit & { readonly events: readonly AuditEvent[] } => {
  const events: AuditEvent[] = [];
  return { events, record: async (event) => void events.push(event) };
};
