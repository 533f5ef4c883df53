import type { Audit, AuditEvent } from '../../src/gateway/audit/audit.js';

/** An audit that keeps its events in memory: for gateways whose audit is not what is tested. */
export const createRecordingAudit = (): Audit & { readonly events: readonly AuditEvent[] } => {
  const events: AuditEvent[] = [];
  return { events, record: async (event) => void events.push(event) };
};
