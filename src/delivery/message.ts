/** Writes the message of a report or an alert: plain text beside HTML. Names come from guests and hosts, and are never markup. */
import { escapeMarkup } from '../model/markup.js';
import type { ReportFormat } from '../model/schedule/schedule.js';
import { type Speech, speechOf } from '../model/texts/messages.js';
import type { MailBrand } from '../platform/config/mail-brands.js';
import { type AlertText, kindOf, sentencesOf, titles } from './alert-text.js';
import { plainLine } from './plain-line.js';

export type Attachment = {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Uint8Array;
  /** Of a picture in the message, which its HTML names. Left out: a file. */
  readonly cid?: string;
};

/** A picture in the message, with what it shows for readers who do not see it. */
export type Picture = { readonly cid: string; readonly name: string };

export type ReportText = {
  readonly scheduleName: string;
  readonly dashboardName: string;
  readonly format: ReportFormat;
  /** The recipient's; undefined: English. */
  readonly language?: string | undefined;
  /** In their order. Left out: none. */
  readonly pictures?: readonly Picture[] | undefined;
  readonly brand: Pick<MailBrand, 'from' | 'logo' | 'opening' | 'closing'>;
  /** Whether no metric of the report has a row for its filters. */
  readonly isEmpty?: boolean | undefined;
  /** What a check found; null for a report. */
  readonly alert: AlertText | null;
  readonly moment: Date;
  readonly timezone: string;
  /** Opens the dashboard in the host application; null: nothing does. */
  readonly dashboardUrl: string | null;
  /** Whether somebody else made the schedule. */
  readonly isForOthers: boolean;
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

const contents = {
  pdf: 'The dashboard is attached as a PDF.',
  png: 'The dashboard is in this message as a picture.',
  xlsx: 'The numbers are attached as an Excel workbook.',
  csv: 'The numbers are attached, one CSV file for each metric.',
  link: 'Open the dashboard to see the current numbers.',
} as const;

const stampOf = (moment: Date, timeZone: string, { locale }: Speech): string =>
  `${new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'long', timeStyle: 'short' }).format(moment)} (${timeZone})`;

const linkOf = (url: string, label: string): string => `<a href="${escapeMarkup(url)}">${escapeMarkup(label)}</a>`;

/** The content id of the tenant's logo. */
export const logoCid = 'logo';

const logoOf = ({ from, logo }: ReportText['brand']): readonly string[] =>
  logo === null ? [] : [`<img src="cid:${logoCid}" alt="${escapeMarkup(from.name)}" height="40" style="height: 40px">`];

const pictureOf = ({ cid, name }: Picture, { text }: Speech): string => {
  const alt = escapeMarkup(text('Picture of {name}', { name: plainLine(name) }));
  return `<img src="cid:${escapeMarkup(cid)}" alt="${alt}" width="760" style="width: 100%; max-width: 760px">`;
};

const htmlOf = ({ locale, direction }: Speech, title: string, paragraphs: readonly string[]): string =>
  [
    `<!doctype html><html lang="${new Intl.Locale(locale).baseName}" dir="${direction}"><head><meta charset="utf-8"><title>${escapeMarkup(title)}</title></head>`,
    '<body style="font-family: sans-serif; line-height: 1.5">',
    ...paragraphs.map((paragraph) => `<p>${paragraph}</p>`),
    '</body></html>',
  ].join('\n');

/** Without a line break, so that no name becomes a header; the body's lines are for readers. */
const subjectOf = ({ scheduleName, dashboardName, alert, language }: ReportText): string => {
  const { text } = speechOf(language);
  const value = text('{label}: {value}', { label: scheduleName, value: dashboardName });
  return cut(
    plainLine(alert === null ? value : text('{label}: {value}', { label: text(titles[kindOf(alert)]), value })),
  );
};

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** A name of the other direction than the text is set apart from it (Unicode's isolates), so that neither moves the other. */
const isolated =
  (speech: Speech) =>
  (name: string): string =>
    speech.direction === 'rtl' || rightToLeft.test(name) ? `\u2068${name}\u2069` : name;

const sentences = ({ format, alert, isEmpty }: ReportText, speech: Speech): readonly string[] => {
  if (alert !== null) return sentencesOf(alert, speech, isolated(speech));
  if (format === 'alert') return [];
  return [speech.text(isEmpty === true ? 'This report has no data for its filters.' : contents[format])];
};

export const messageOf = (report: ReportText): Message => {
  const { dashboardUrl, unsubscribeUrl } = report;
  const speech = speechOf(report.language);
  const { text } = speech;
  const subject = subjectOf(report);
  const lines = [
    `${isolated(speech)(plainLine(report.dashboardName))}, ${stampOf(report.moment, report.timezone, speech)}`,
    ...sentences(report, speech),
  ];
  const made =
    report.alert === null
      ? 'You receive this message because you scheduled it.'
      : 'You receive this message because you made this alert.';
  const why = text(report.isForOthers ? 'You receive this message because it was scheduled for you.' : made);
  const open = text('Open the dashboard');
  const stop = text('Stop these messages');
  const { brand, pictures = [] } = report;
  const opening = brand.opening === null ? [] : [brand.opening];
  const closing = brand.closing === null ? [] : [brand.closing];
  const plain = [
    ...opening,
    ...lines,
    ...(dashboardUrl === null ? [] : [text('{label}: {value}', { label: open, value: dashboardUrl })]),
    ...closing,
    `${why} ${text('{label}: {value}', { label: stop, value: unsubscribeUrl })}`,
  ].join('\n\n');
  const html = htmlOf(speech, subject, [
    ...logoOf(brand),
    ...[...opening, ...lines].map(escapeMarkup),
    ...pictures.map((picture) => pictureOf(picture, speech)),
    ...(dashboardUrl === null ? [] : [linkOf(dashboardUrl, open)]),
    ...closing.map(escapeMarkup),
    `${escapeMarkup(why)} ${linkOf(unsubscribeUrl, stop)}`,
  ]);
  const headers = {
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'Auto-Submitted': 'auto-generated',
    'Content-Language': new Intl.Locale(speech.locale).baseName,
  };
  return { subject, text: `${plain}\n`, html, headers };
};

export type ConfirmText = {
  readonly confirmUrl: string;
  /** Undefined: English. */
  readonly language: string | undefined;
};

/** Writes the message that asks an address to confirm itself. It names neither a tenant nor a dashboard. */
export const confirmMessageOf = ({ confirmUrl, language }: ConfirmText): Message => {
  const speech = speechOf(language);
  const { text, locale } = speech;
  const subject = text('Confirm that you want reports');
  const asks = text('Somebody wants to send you reports by e-mail. You get them once you have confirmed this address.');
  const confirm = text('Confirm this address');
  const otherwise = text('If you do not expect this, do nothing: you will get no report.');
  const plain = [asks, text('{label}: {value}', { label: confirm, value: confirmUrl }), otherwise].join('\n\n');
  return {
    subject,
    text: `${plain}\n`,
    html: htmlOf(speech, subject, [asks, linkOf(confirmUrl, confirm), otherwise]),
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': new Intl.Locale(locale).baseName },
  };
};
