/** A mail of a report before anything is sent. */
import type { OpenReport } from '../schedule/open-report.js';
import type { Reports } from '../schedule/reports.js';
import type { Schedule, ScheduleOwner } from '../schedule/schedule.js';
import type { GuestCaller } from './caller.js';

/** A mail as its reader would get it. Pictures are part of the HTML, and of files only names and sizes are told. */
export type MailPreview = {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
};

/**
 * Writes the mail of a schedule to this reader as a delivery does, and sends nothing. It is read as this caller alone. Throws a refusal
 * if there is no such message for the caller, or if it cannot be read now.
 */
export type PreviewMail = (
  caller: GuestCaller,
  asked: { readonly schedule: Schedule; readonly opened: OpenReport; readonly reader: string },
  signal: AbortSignal,
) => Promise<MailPreview>;

/** A user as a delivery reads this user's message, and the roles by which a schedule may name the user. */
export type MailReader = { readonly caller: GuestCaller; readonly roles: readonly string[] };

export type GuestReports = Reports & {
  readonly preview: PreviewMail;
  /** By the right that the user would have if the message left now. Null: none. */
  readonly openReader: (owner: ScheduleOwner) => Promise<MailReader | null>;
  /** The id that the gateway gives a tenant's copy of a template. Undefined while reports are off. */
  readonly copyIdOf: (templateName: string, clientId: string) => string | undefined;
};
