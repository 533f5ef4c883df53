/** What a token may schedule. The operations of schedules, and the page that offers them, ask the same functions. */
import type { Embed } from '../../model/dashboard/embed.js';
import { assertReports } from '../../model/guest/access.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { passes, Refusal } from '../../model/refusal.js';
import type { Reports } from '../../model/schedule/reports.js';
import { type ReportFormat, reportFormats, type ScheduleOwner } from '../../model/schedule/schedule.js';
import type { Opened } from '../embeds/lookup.js';
import { assertPermitted } from './scope.js';

export type SchedulingDeps = { readonly reports: Pick<Reports, 'isOn' | 'hasLinks'> };

/** Throws UNAUTHORIZED for a token without a user. */
export const ownerOf = ({ dataAppId, clientId, userIdentifier }: GuestGrant): ScheduleOwner => {
  if (userIdentifier !== null) return { dataAppId, clientId, userIdentifier };
  throw new Refusal('UNAUTHORIZED', 'This token names no user, so no report could be sent to one.', {
    reason: 'report-without-user',
  });
};

/** Throws UNAUTHORIZED if the token may not have such a file. */
export const assertFormat = ({ reports }: SchedulingDeps, grant: GuestGrant, opened: Opened, format: ReportFormat) => {
  if (format === 'alert') return;
  if (format !== 'link') return assertPermitted(grant, opened, 'isEnableDownloadMetrics');
  if (reports.hasLinks) return;
  throw new Refusal('INVALID_REQUEST_BODY', 'format: messages here have no link. Choose pdf, png, xlsx or csv.', {
    reason: 'report-format',
  });
};

/** Throws UNAUTHORIZED if this installation sends no reports. */
export const assertOn = ({ reports }: SchedulingDeps): void => {
  if (reports.isOn()) return;
  throw new Refusal('UNAUTHORIZED', 'Reports by e-mail are not set up here.', { reason: 'reports-off' });
};

/** Whether this token may schedule anything of a dashboard, by the rules of the operations. */
export const maySchedule = (deps: SchedulingDeps, grant: GuestGrant, embed: Embed): boolean =>
  passes(() => {
    assertReports(embed);
    ownerOf(grant);
    assertOn(deps);
  });

/** The formats that this token may schedule of a dashboard, by the rules of the operations; undefined: none. */
export const scheduleFormats = (
  deps: SchedulingDeps,
  grant: GuestGrant,
  opened: Opened,
): readonly ReportFormat[] | undefined => {
  if (!maySchedule(deps, grant, opened.embed)) return undefined;
  return reportFormats.filter((format) => passes(() => assertFormat(deps, grant, opened, format)));
};
