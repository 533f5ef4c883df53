/** Writes the message of a report or an alert: plain text beside HTML. Names come from guests and hosts, and are never markup. */
import type { ReportFormat } from '../domain/deliver/schedule.js';
import { type AlertKind, type AlertText, kindOf, sentencesOf } from './alert-text.js';
import { plainLine } from './plain-line.js';

export type Attachment = { readonly filename: string; readonly contentType: string; readonly content: Uint8Array };

export type ReportText = {
  readonly scheduleName: string;
  readonly dashboardName: string;
  readonly format: ReportFormat;
  /** What a check found; null for a report. */
  readonly alert: AlertText | null;
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

const contents: Readonly<Record<Exclude<ReportFormat, 'alert'>, string>> = {
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

const kinds: Readonly<Record<AlertKind, string>> = { breach: 'Alert', recovery: 'Recovered', check: 'Checked' };

/** Without a line break, so that no name becomes a header; the body's lines are for readers. */
export const subjectOf = ({ scheduleName, dashboardName, alert }: ReportText): string => {
  const title = alert === null ? scheduleName : `${kinds[kindOf(alert)]}: ${scheduleName}`;
  return cut(plainLine(`${title}: ${dashboardName}`));
};

const sentences = ({ format, alert }: ReportText): readonly string[] => {
  if (alert !== null) return sentencesOf(alert, (text) => text);
  return format === 'alert' ? [] : [contents[format]];
};

export const messageOf = (report: ReportText): Message => {
  const { dashboardUrl, unsubscribeUrl } = report;
  const subject = subjectOf(report);
  const lines = [
    `${plainLine(report.dashboardName)}, ${stampOf(report.moment, report.timezone)}`,
    ...sentences(report),
  ];
  const why = `You receive this message because you ${report.alert === null ? 'scheduled it' : 'made this alert'}.`;
  const text = [
    ...lines,
    ...(dashboardUrl === null ? [] : [`Open the dashboard: ${dashboardUrl}`]),
    `${why} To stop it: ${unsubscribeUrl}`,
  ].join('\n\n');
  const html = htmlOf(subject, [
    ...lines.map(escaped),
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
