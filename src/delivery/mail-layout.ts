/**
 * How every message looks: one column, in the light or dark colours of its reader. Written as mail programs need it: tables and
 * styles at each element, since many read no style sheet; that sheet only adds dark colours and narrow screens. Nothing is
 * loaded from anywhere: pictures are parts of the message.
 */

import { Html, html } from '../model/html.js';
import type { Speech } from '../model/texts/messages.js';
import { plainLine } from './plain-line.js';

/** A picture in the message, with what it shows for readers who do not see it. */
export type Picture = { readonly cid: string; readonly name: string };

/** A number by its name, written for the reader in each of its currencies. `note`: what it was before. */
export type WrittenFigure = {
  readonly name: string;
  readonly values: readonly string[];
  readonly note: string | null;
};

export type MailPage = {
  readonly speech: Speech;
  /** The page's title, and what a list of messages shows beside the subject. */
  readonly title: string;
  readonly preview: string;
  /** Above everything: the tenant's own logo, or its name. */
  readonly sender: { readonly name: string; readonly logoCid: string | null } | null;
  readonly heading: string;
  /** Of what moment it is; null: of none, and the heading is the subject. */
  readonly moment: string | null;
  readonly opening: readonly string[];
  readonly lines: readonly string[];
  readonly figures: readonly WrittenFigure[];
  readonly pictures: readonly Picture[];
  readonly action: { readonly url: string; readonly label: string } | null;
  readonly closing: readonly string[];
  /** Why the reader has it, and how it ends. */
  readonly footer: { readonly text: string; readonly url: string; readonly label: string } | null;
};

const font = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const ink = 'color:#1b2230';
const soft = 'color:#5a6475';

const sheet = new Html(`<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #12151b !important; }
  .sheet, .figure { background: #1a1f28 !important; border-color: #2b3240 !important; }
  .ink { color: #e6e9ef !important; }
  .soft { color: #9aa4b5 !important; }
  .link { color: #86b2ff !important; }
}
@media (max-width: 480px) {
  .edge { padding: 24px 18px !important; }
  .around { padding: 0 !important; }
  .figure { display: block !important; width: auto !important; margin: 0 4px 8px !important; }
}
</style>`);

/** Outlook on Windows reads no greatest width: it gets a table of that width. */
const outlookBegin = new Html(
  '<!--[if mso]><table role="presentation" width="640" align="center" cellpadding="0" cellspacing="0"><tr><td><![endif]-->',
);
const outlookEnd = new Html('<!--[if mso]></td></tr></table><![endif]-->');

const logoHeight = 32;

const senderHtml = (sender: MailPage['sender']): Html | undefined => {
  if (sender === null) return undefined;
  const { name, logoCid } = sender;
  const shown =
    logoCid === null
      ? html`<span class="ink" style="${font};font-size:15px;font-weight:600;${ink}">${name}</span>`
      : html`<img src="cid:${logoCid}" alt="${name}" height="${logoHeight}" style="height:${logoHeight}px;border:0;display:block">`;
  return html`<div style="padding:0 0 20px">${shown}</div>`;
};

const paragraph = (line: string): Html =>
  html`<p class="ink" style="${font};font-size:16px;line-height:24px;margin:0 0 12px;${ink}">${line}</p>`;

const figureHtml = ({ name, values, note }: WrittenFigure): Html => {
  const told =
    note === null
      ? undefined
      : html`<div class="soft" style="${font};font-size:13px;line-height:18px;${soft};padding-top:4px">${note}</div>`;
  return html`<div class="figure" style="display:inline-block;vertical-align:top;box-sizing:border-box;width:264px;max-width:100%;margin:0 4px 8px;padding:14px 16px;background:#f6f7f9;border:1px solid #dfe3ea;border-radius:8px">
<div class="soft" style="${font};font-size:13px;line-height:18px;${soft}">${name}</div>
${values.map((value) => html`<div class="ink" style="${font};font-size:24px;line-height:32px;font-weight:600;${ink}">${value}</div>`)}${told}</div>`;
};

const pictureHtml = ({ cid, name }: Picture, { text }: Speech): Html =>
  html`<img src="cid:${cid}" alt="${text('Picture of {name}', { name: plainLine(name) })}" width="576" style="width:100%;max-width:760px;height:auto;display:block;border:0;border-radius:8px;background:#ffffff;margin:0 0 16px">`;

/** A button whose padding is that of a cell, which Outlook draws too. */
const actionHtml = ({ url, label }: NonNullable<MailPage['action']>): Html =>
  html`<table role="presentation" cellpadding="0" cellspacing="0" style="margin:12px 0 8px"><tr><td bgcolor="#1f5fd0" style="background:#1f5fd0;border-radius:8px;padding:11px 20px"><a href="${url}" style="${font};font-size:15px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${label}</a></td></tr></table>`;

const footerHtml = ({ text, url, label }: NonNullable<MailPage['footer']>): Html =>
  html`<p class="soft" style="${font};font-size:13px;line-height:20px;margin:16px 0 0;${soft}">${text} <a class="link" href="${url}" style="color:#1f5fd0">${label}</a></p>`;

export const mailHtml = (page: MailPage): string => {
  const { speech, title, preview, heading, moment, action, footer } = page;
  const { locale, direction } = speech;
  const when =
    moment === null
      ? undefined
      : html`<p class="soft" style="${font};font-size:14px;line-height:20px;margin:0 0 16px;${soft}">${moment}</p>`;
  return html`<!doctype html>
<html lang="${new Intl.Locale(locale).baseName}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title>
${sheet}</head>
<body class="page" style="margin:0;padding:0;background:#f4f5f7">
<div style="display:none;max-height:0;overflow:hidden">${preview}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f4f5f7"><tr><td class="around" align="center" style="padding:24px 12px">
${outlookBegin}
<table role="presentation" class="sheet" width="100%" cellpadding="0" cellspacing="0" style="max-width:640px;background:#ffffff;border:1px solid #dfe3ea;border-radius:12px"><tr><td class="edge" align="start" style="padding:32px;text-align:start">
${senderHtml(page.sender)}
<h1 class="ink" style="${font};font-size:22px;line-height:28px;font-weight:700;margin:0 0 4px;${ink}">${heading}</h1>
${when}
${[...page.opening, ...page.lines].map(paragraph)}
${page.figures.length === 0 ? undefined : html`<div style="padding:8px 0;margin:0 -4px">${page.figures.map(figureHtml)}</div>`}
${page.pictures.map((picture) => pictureHtml(picture, speech))}
${action === null ? undefined : actionHtml(action)}
${page.closing.map(paragraph)}
${footer === null ? undefined : footerHtml(footer)}
</td></tr></table>
${outlookEnd}
</td></tr></table>
</body></html>
`.text;
};

/** The same page for programs that show no HTML. Opening and closing words stand around what the page is about. */
export const mailText = ({
  speech,
  opening,
  heading,
  moment,
  lines,
  figures,
  action,
  closing,
  footer,
}: MailPage): string => {
  const { text } = speech;
  const labelled = (label: string, value: string): string => text('{label}: {value}', { label, value });
  const head = moment === null ? [] : [`${heading}, ${moment}`];
  const numbers = figures.map(({ name, values, note }) =>
    [labelled(name, values.join(' · ')), note].filter(Boolean).join('. '),
  );
  const parts = [
    ...opening,
    ...head,
    ...lines,
    ...(numbers.length === 0 ? [] : [numbers.join('\n')]),
    ...(action === null ? [] : [labelled(action.label, action.url)]),
    ...closing,
    ...(footer === null ? [] : [`${footer.text} ${labelled(footer.label, footer.url)}`]),
  ];
  return `${parts.join('\n\n')}\n`;
};
