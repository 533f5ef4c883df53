/** Writes the mail of a schedule for one reader, by the code of deliveries. Nothing is sent, and nothing is stored. */
import { randomUUID } from 'node:crypto';
import { notOpen } from '../model/guest/access.js';
import type { GuestCaller } from '../model/guest/caller.js';
import type { MailPreview, PreviewMail } from '../model/guest/mail-preview.js';
import { Refusal } from '../model/refusal.js';
import { AlertFault } from '../model/schedule/alert.js';
import { anyOf } from '../model/signals.js';
import { DependencyUnavailable } from '../model/unavailable.js';
import { type Deciding, languageFor, readOpened } from './decide.js';
import type { Attachment } from './message.js';
import { findOwnRight, type Passages } from './passage.js';
import type { Ask } from './report-content.js';
import { bytesOf, mailOf, type Report } from './sender.js';

export type Previewing = Passages &
  Pick<Deciding, 'tag' | 'clock'> & {
    /** Asks as this caller, whose right alone decides what the message says. */
    readonly askAs: (caller: GuestCaller) => Ask;
    readonly largestBytes: number;
    readonly readTimeoutMs: number;
  };

/** With pictures as part of the page: the page loads nothing. Names are escaped, so only the layout writes such an address. */
const withPictures = (page: string, attachments: readonly Attachment[]): string =>
  attachments.reduce((html, { cid, contentType, content }) => {
    const data = `data:${contentType};base64,${Buffer.from(content).toString('base64')}`;
    return cid === undefined ? html : html.replaceAll(`"cid:${cid}"`, `"${data}"`);
  }, page);

/** A refusal stays what it is. What else a reading throws is for the log. */
const toRefusal = (cause: unknown): Refusal => {
  if (cause instanceof Refusal) return cause;
  if (cause instanceof AlertFault) {
    const message = 'alert: it cannot be checked. Choose another card, or a condition for fewer rows.';
    return new Refusal('INVALID_REQUEST_BODY', message, { reason: 'alert-invalid', cause });
  }
  return new Refusal('METRIC_QUERY_ERROR', 'The message cannot be drawn now. Try again later.', {
    reason: 'report-unread',
    cause: new DependencyUnavailable('report-unread', 'a preview could not be read', cause),
  });
};

const read = async (
  previewing: Previewing,
  [caller, { schedule, opened, reader: userIdentifier }, signal]: Parameters<PreviewMail>,
): Promise<Report> => {
  const { setup, tag, clock, askAs, largestBytes, readTimeoutMs } = previewing;
  const owner = { ...schedule.owner, userIdentifier };
  const right = await findOwnRight(previewing, owner, randomUUID());
  const language = right === null ? undefined : languageFor(setup, { right, reader: owner });
  const reader = { schedule, opened, language, token: '', isToChannel: false, isRequested: true };
  const within = anyOf(signal, AbortSignal.timeout(readTimeoutMs));
  const report = await readOpened({ ask: askAs(caller), tag, clock, setup }, reader, within);
  // An alert that is asked for is never silent.
  if ('silent' in report) throw new Error('an alert that was asked for told nothing');
  if ('refused' in report) throw notOpen('metric-not-on-dashboard');
  if (bytesOf(report) <= largestBytes) return report;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    'metricIds: the message is larger than a mail may be. Choose fewer cards.',
    {
      reason: 'report-too-large',
    },
  );
};

export const createPreview =
  (previewing: Previewing): PreviewMail =>
  async (...asked): Promise<MailPreview> => {
    const [, { schedule }, signal] = asked;
    const report = await read(previewing, asked).catch((error: unknown) => {
      throw signal.aborted ? error : toRefusal(error);
    });
    const { setup, clock } = previewing;
    const brand = setup.brandOf(schedule.owner.clientId);
    const mail = mailOf(report, { schedule, moment: clock.now() }, { brand, unsubscribeUrl: setup.origin });
    const { subject, html, text, attachments } = mail;
    const files = attachments.filter(({ cid }) => cid === undefined);
    return {
      ...{ subject, text, html: withPictures(html, attachments) },
      files: files.map(({ filename, content }) => ({ name: filename, bytes: content.byteLength })),
    };
  };
