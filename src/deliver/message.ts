/** Writes the message of a report: plain text beside HTML. Names come from guests and hosts, and are never markup. */
import type { ReportFormat } from '../domain/deliver/schedule.js';

export type Attachment = { readonly filename: string; readonly contentType: string; readonly content: Uint8Array };

export type ReportText = {
  readonly scheduleName: string;
  readonly dashboardName: string;
  readonly format: ReportFormat;
  readonly moment: Date;
  readonly timezone: string;
  /** Opens the dashboard in the host application; null: nothing does. */
  readonly dashboardUrl: string | null;
  /** Ends the schedule with one click (RFC 8058). */
  readonly unsubscribeUrl: string;
};

export type Message = {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
};

const longestSubject = 200;

/** One line without control, format or separator characters: no header begins in it, and no text runs backwards. */
export const plainLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const cut = (text: string): string => {
  const letters = [...text];
  return letters.length <= longestSubject ? text : `${letters.slice(0, longestSubject - 1).join('')}…`;
};

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter);

const contents: Readonly<Record<ReportFormat, string>> = {
  pdf: 'The dashboard is attached as a PDF.',
  xlsx: 'The numbers are attached as an Excel workbook.',
  csv: 'The numbers are attached, one CSV file for each metric.',
  link: 'Open the dashboard to see the current numbers.',
};

const stampOf = (moment: Date, timeZone: string): string =>
  `${new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'long', timeStyle: 'short' }).format(moment)} (${timeZone})`;

const linkOf = (url: string, label: string): string => `<a href="${escaped(url)}">${escaped(label)}</a>`;

const htmlOf = (title: string, paragraphs: readonly string[]): string =>
  [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title></head>`,
    '<body style="font-family: sans-serif; line-height: 1.5">',
    ...paragraphs.map((paragraph) => `<p>${paragraph}</p>`),
    '</body></html>',
  ].join('\n');

export const messageOf = (report: ReportText): Message => {
  const { dashboardUrl, unsubscribeUrl } = report;
  const dashboard = plainLine(report.dashboardName);
  const subject = cut(plainLine(`${report.scheduleName}: ${dashboard}`));
  const stamp = `${dashboard}, ${stampOf(report.moment, report.timezone)}`;
  const why = 'You receive this message because you scheduled it.';
  const text = [
    stamp,
    contents[report.format],
    ...(dashboardUrl === null ? [] : [`Open the dashboard: ${dashboardUrl}`]),
    `${why} To stop it: ${unsubscribeUrl}`,
  ].join('\n\n');
  const html = htmlOf(subject, [
    escaped(stamp),
    escaped(contents[report.format]),
    ...(dashboardUrl === null ? [] : [linkOf(dashboardUrl, 'Open the dashboard')]),
    `${escaped(why)} ${linkOf(unsubscribeUrl, 'Stop it')}`,
  ]);
  const headers = {
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'Auto-Submitted': 'auto-generated',
  };
  return { subject, text: `${text}\n`, html, headers };
};
