/** Writes the message of a report or an alert: plain text beside HTML. Names come from guests and hosts, and are never markup. */
import type { Cell } from '../model/query/engine.js';
import { type WrittenNumbers, writeNumber } from '../model/query/numbers.js';
import type { ReportFormat } from '../model/schedule/schedule.js';
import { type Speech, speechOf } from '../model/texts/messages.js';
import type { MailBrand } from '../platform/config/mail-brands.js';
import { type AlertText, kindOf, sentencesOf, titles, writtenValue } from './alert-text.js';
import { type MailPage, mailHtml, mailText, type Picture, type WrittenFigure } from './mail-layout.js';
import { plainLine } from './plain-line.js';

export type Attachment = {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Uint8Array;
  /** Of a picture in the message, which its HTML names. Left out: a file. */
  readonly cid?: string;
};

/** The value of a metric that is one number, in each of its currencies. `before`: that of the period it is compared with. */
export type Figure = {
  readonly name: string;
  readonly values: readonly { readonly value: Cell; readonly numbers: WrittenNumbers }[];
  readonly before: Cell;
};

export type ReportText = {
  readonly scheduleName: string;
  readonly dashboardName: string;
  readonly format: ReportFormat;
  /** The recipient's; undefined: English. */
  readonly language?: string | undefined;
  /** Numbers to read without opening anything. Left out: none. */
  readonly figures?: readonly Figure[] | undefined;
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

/** The content id of the tenant's logo. */
export const logoCid = 'logo';

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

const writtenFigure = ({ name, values, before }: Figure, { locale, text }: Speech): WrittenFigure => {
  const [first] = values;
  const isCompared = before !== null && first !== undefined;
  return {
    name: plainLine(name),
    values: values.map(({ value, numbers }) => writeNumber(locale, value, numbers)),
    note: isCompared ? text('Before: {before}.', { before: writeNumber(locale, before, first.numbers) }) : null,
  };
};

const alertFigures = (alert: AlertText, speech: Speech): readonly WrittenFigure[] => {
  const value = writtenValue(alert, speech);
  return value === null ? [] : [{ name: plainLine(alert.measure), values: [value], note: null }];
};

const figuresOf = ({ figures = [], alert }: ReportText, speech: Speech): readonly WrittenFigure[] =>
  alert === null ? figures.map((figure) => writtenFigure(figure, speech)) : alertFigures(alert, speech);

/** Why its reader has the message. */
const reasonOf = ({ alert, isForOthers }: ReportText) => {
  if (isForOthers) return 'You receive this message because it was scheduled for you.';
  return alert === null
    ? 'You receive this message because you scheduled it.'
    : 'You receive this message because you made this alert.';
};

const pageOf = (report: ReportText, speech: Speech): MailPage => {
  const { dashboardUrl, unsubscribeUrl, brand, pictures = [] } = report;
  const { text } = speech;
  const moment = stampOf(report.moment, report.timezone, speech);
  const lines = sentences(report, speech);
  return {
    speech,
    title: subjectOf(report),
    preview: lines[0] ?? moment,
    sender: { name: brand.from.name, logoCid: brand.logo === null ? null : logoCid },
    heading: isolated(speech)(plainLine(report.dashboardName)),
    moment,
    opening: brand.opening === null ? [] : [brand.opening],
    lines,
    figures: figuresOf(report, speech),
    pictures,
    action: dashboardUrl === null ? null : { url: dashboardUrl, label: text('Open the dashboard') },
    closing: brand.closing === null ? [] : [brand.closing],
    footer: { text: text(reasonOf(report)), url: unsubscribeUrl, label: text('Stop these messages') },
  };
};

export const messageOf = (report: ReportText): Message => {
  const speech = speechOf(report.language);
  const page = pageOf(report, speech);
  const headers = {
    'List-Unsubscribe': `<${report.unsubscribeUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'Auto-Submitted': 'auto-generated',
    'Content-Language': new Intl.Locale(speech.locale).baseName,
  };
  return { subject: page.title, text: mailText(page), html: mailHtml(page), headers };
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
  const otherwise = text('If you do not expect this, do nothing: you will get no report.');
  const page = {
    ...{ speech, title: subject, preview: asks, sender: null, heading: subject, moment: null, opening: [] },
    ...{ lines: [asks], figures: [], pictures: [], closing: [otherwise], footer: null },
    action: { url: confirmUrl, label: text('Confirm this address') },
  };
  return {
    subject,
    text: mailText(page),
    html: mailHtml(page),
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': new Intl.Locale(locale).baseName },
  };
};
