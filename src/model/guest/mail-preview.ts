/** A mail of a report before anything is sent. */
import type { OpenReport } from '../schedule/open-report.js';
import type { Reports } from '../schedule/reports.js';
import type { Schedule } from '../schedule/schedule.js';
import type { GuestCaller } from './caller.js';

/** A mail as its reader would get it. Pictures are part of the HTML, and of files only names and sizes are told. */
export type MailPreview = {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
};

/**
 * Writes the mail of a schedule as a delivery does, and sends nothing. It is read as this caller alone. Throws a refusal
 * if there is no such message for the caller, or if it cannot be read now.
 */
export type PreviewMail = (
  caller: GuestCaller,
  asked: { readonly schedule: Schedule; readonly opened: OpenReport },
  signal: AbortSignal,
) => Promise<MailPreview>;

export type GuestReports = Reports & { readonly preview: PreviewMail };
