/** Decides what a recipient gets of a message now, and reads it by the recipient's own right alone. */
import { randomUUID } from 'node:crypto';
import type { GuestCaller } from '../model/guest/caller.js';
import type { GuestReports } from '../model/guest/mail-preview.js';
import { Refusal } from '../model/refusal.js';
import type { OpenReport } from '../model/schedule/open-report.js';
import type { KnownAddress } from '../model/schedule/recipients.js';
import type { ClaimedDelivery, Schedule } from '../model/schedule/schedule.js';
import { readLanguage } from '../model/texts/messages.js';
import { checkAlert } from './alert-content.js';
import { calendar } from './calendar.js';
import { channelsOf, type MailSetup, noWay, wayOf } from './mail-setup.js';
import {
  type Addresses,
  findAudience,
  findOwnRight,
  findPassage,
  isStillGood,
  type Passage,
  type Passages,
} from './passage.js';
import { type Ask, linkOf, readAlertPicture, readReport } from './report-content.js';
import type { Decide, Granted, Question, Refused, Report, Silence } from './sender.js';

/** What the service asks about reports. `passages` returns null while reports are off. */
export const createReportsPort = (
  setup: MailSetup | null,
  passages: () => (Passages & Pick<GuestReports, 'preview'>) | null,
): GuestReports => ({
  calendar,
  isOn: () => passages() !== null,
  isFor: async (dataAppId, channel) => {
    const on = passages();
    return on !== null && (on.setup.sender !== null || channel !== null) && (await on.findDataAppId()) === dataAppId;
  },
  channels: setup?.channels.map(({ name }) => name) ?? [],
  hasLinks: setup !== null && setup.mail.dashboardUrl !== null,
  check: async (owner, way) => {
    const on = passages();
    const right = on && (await findOwnRight(on, owner, randomUUID()));
    return on === null || right === null || wayOf(on.setup, right, way) === undefined ? noWay(way) : 'ready';
  },
  preview: async (...asked) => {
    const on = passages();
    if (on === null) throw new Error('only what is on can be previewed');
    return on.preview(...asked);
  },
  openReader: async (owner) => {
    const on = passages();
    const right = on && (await findOwnRight(on, owner, randomUUID()));
    return on === null || right === null ? null : { caller: await on.authenticate(right.token), roles: right.roles };
  },
  copyIdOf: (templateName, clientId) => passages()?.copyIdOf(templateName, clientId),
  listChannels: async (owner, openedId) => {
    const on = passages();
    const right = on && (await findOwnRight(on, owner, randomUUID()));
    if (on === null || right === null) return [];
    return channelsOf(on.setup, right, openedId).map(({ name, kind }) => ({ name, kind }));
  },
  findAudience: async (owner, openedId) => {
    const on = passages();
    return on && findAudience(on, owner, openedId);
  },
});

export type Deciding = Passages &
  Addresses & {
    /** Throws UNAUTHORIZED unless this caller is that user and may have such a message now. */
    readonly openReport: (caller: GuestCaller, schedule: Schedule, reader: string) => Promise<OpenReport>;
    readonly ask: Ask;
    /** The link that confirms an address. */
    readonly confirmUrlOf: (addressId: string) => Promise<string>;
  };

/** UNAUTHORIZED and the end of a token mean that there is no right. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Refusal && ['UNAUTHORIZED', 'AUTHENTICATION_ERROR', 'TOKEN_EXPIRED'].includes(error.code);

/** The language of a reader: that of the session, else that of the tenant, else that of the configuration. */
export const languageFor = (
  { mail, brandOf }: MailSetup,
  { right, reader }: Pick<Passage, 'right' | 'reader'>,
): string | undefined =>
  readLanguage(right.claims[mail.languageClaim]) ?? brandOf(reader.clientId).language ?? undefined;

const questionOf = async (
  { store, clock, confirmUrlOf }: Deciding,
  { id, askedAt }: KnownAddress,
): Promise<Omit<Question, 'language'>> => {
  const { noteAsked } = store.reportAddresses;
  const now = clock.now();
  return {
    confirmUrl: await confirmUrlOf(id),
    begin: () => noteAsked(id, askedAt, now),
    takeBack: async () => void (await noteAsked(id, now, askedAt)),
  };
};

const none = { attachments: [], pictures: [] };

/** Reads what a message says, by the right alone. Throws a refusal if there is none. */
const readFor = async (
  deciding: Deciding,
  passage: Passage,
  { schedule, isRequested }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Report | Silence | Question | Refused> => {
  const { authenticate, openReport } = deciding;
  const { right, reader, asks } = passage;
  const { token } = right;
  const language = languageFor(deciding.setup, passage);
  const opened = await openReport(await authenticate(token), schedule, reader.userIdentifier);
  if (asks !== undefined) return { ...(await questionOf(deciding, asks)), language };
  const isToChannel = 'channel' in passage.to;
  return readOpened(deciding, { token, schedule, opened, language, isToChannel, isRequested }, signal);
};

type Reader = Pick<ClaimedDelivery, 'schedule' | 'isRequested'> & {
  readonly opened: OpenReport;
  readonly token: string;
  readonly language: string | undefined;
  /** Whether the message goes to a channel, which takes no picture. */
  readonly isToChannel: boolean;
};

/** Reads what a message says of the dashboard that was opened for it. */
export const readOpened = async (
  { ask, tag, clock, setup }: Pick<Deciding, 'ask' | 'tag' | 'clock' | 'setup'>,
  { token, schedule, opened, language, isToChannel, isRequested }: Reader,
  signal: AbortSignal,
): Promise<Report | Silence | Refused> => {
  const { dashboardUrl } = setup.mail;
  const { alert } = schedule;
  if (alert === null || opened.alert === null)
    return readReport({ ask, token, schedule, opened, dashboardUrl, language }, signal);
  const reading = { ask, token, schedule, alert, opened: opened.alert, tag, now: clock.now(), isRequested };
  const checked = await checkAlert(reading, signal);
  if ('refused' in checked) return checked;
  const { text, state: found } = checked;
  if (text === null) return { silent: found };
  const url = linkOf(dashboardUrl, schedule.openedId);
  const drawn = isToChannel ? none : await readAlertPicture({ ...reading, language }, signal);
  return { dashboardName: opened.name, dashboardUrl: url, ...drawn, alert: text, found, language };
};

const grantedOf = (deciding: Deciding, passage: Passage): Granted => ({
  to: passage.to,
  tenantName: passage.right.tenantName,
  read: async (delivery, signal) => {
    try {
      return await readFor(deciding, passage, delivery, signal);
    } catch (error) {
      if (isRefusal(error)) return { refused: 'no-right' };
      throw error;
    }
  },
  isStillGood: (delivery) => isStillGood(deciding, delivery, passage),
});

export const decideWith =
  (deciding: Deciding): Decide =>
  async (delivery) => {
    const found = await findPassage(deciding, delivery);
    return 'refused' in found ? found : grantedOf(deciding, found);
  };
