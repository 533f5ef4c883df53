/**
 * The mail of a report to all tenants before it is saved, as one user of one tenant would get it. It tells rows of that
 * user, so it is for people who may see data, and each look is in the audit.
 */
import type { z } from 'zod';
import type { Audit, AuditEvent } from '../gateway/audit/audit.js';
import { type AdminCommand, adminCommand, askedIn, declareCommand, readBy } from '../gateway/common/admin-command.js';
import type { ApiKeyCaller } from '../model/guest/caller.js';
import type { MailPreview } from '../model/guest/mail-preview.js';
import { nameInRecords, type Person } from '../model/person.js';
import { identifier } from '../platform/http/interface/fields.js';
import { previewGuestSchedule } from '../service/schedules/contract/guest-schedules.js';
import { createTemplateSchedule } from '../service/schedules/contract/template-schedules.js';

const previewInput = createTemplateSchedule.input.extend({
  clientId: identifier.describe('The tenant.'),
  user: identifier.describe('Its user, as whom the mail is read.'),
});
type Asked = z.output<typeof previewInput>;

export const previewReport = declareCommand('report-preview', previewInput, previewGuestSchedule.output.shape.data, {
  ...readBy('publisher'),
  reads: 'rows',
});

export type ReportPreviewParts = {
  readonly dataApp: () => Promise<ApiKeyCaller>;
  readonly preview: (app: ApiKeyCaller, asked: Asked, signal: AbortSignal) => Promise<MailPreview>;
  readonly audit: Audit;
};

/** Who looked at whose rows. */
const looked = ({ clientId, user, dashboardId }: Asked, person: Person, requestId: string): AuditEvent => ({
  ...{ kind: 'admin', code: 'OK', requestId, clientId, user },
  detail: { command: 'report-preview', operator: nameInRecords(person), dashboard: dashboardId },
});

export const reportPreviewCommand = ({ dataApp, preview, audit }: ReportPreviewParts): AdminCommand =>
  adminCommand(previewReport, async (asked, by, signal) => {
    const { session, requestId } = askedIn(by);
    await audit.record(looked(asked, session.person, requestId));
    const { files, ...mail } = await preview(await dataApp(), asked, signal);
    return { ...mail, files: files.map(({ name, bytes }) => ({ name, bytes })) };
  });
