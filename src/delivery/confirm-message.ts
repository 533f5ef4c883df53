/** Writes the message that asks an address to confirm itself. It names neither a tenant nor a dashboard. */
import { speechOf } from '../model/texts/messages.js';
import { htmlOf, linkOf, type Message } from './message.js';

export type ConfirmText = {
  readonly confirmUrl: string;
  /** Undefined: English. */
  readonly language: string | undefined;
};

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
