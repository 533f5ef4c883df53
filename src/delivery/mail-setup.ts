/** What is set up for the sending of reports, and where a message of a right may go by it. */
import { readAddress } from '../model/schedule/address.js';
import type { ReportRight } from '../model/schedule/open-report.js';
import type { Way } from '../model/schedule/reports.js';
import type { Channel } from '../platform/config/channels.js';
import type { Config } from '../platform/config/config.js';
import type { BrandOf } from '../platform/config/mail-brands.js';
import type { Dkim } from '../platform/keys/dkim.js';
import type { Granted } from './sender.js';

type Mail = Config['settings']['mail'];

/** What is needed to send; null: reports are off. */
export type MailSetup = {
  readonly mail: Mail;
  /** Null: nothing goes by e-mail. */
  readonly sender: { readonly from: string; readonly smtpUrl: string } | null;
  readonly channels: readonly Channel[];
  readonly brandOf: BrandOf;
  readonly dkim: Dkim | null;
  /** Those of the hooks, which tell of messages that came back. */
  readonly hooks: { readonly secrets: readonly string[]; readonly toleranceSeconds: number };
  readonly origin: string;
};

export const mailSetupOf = ({
  settings,
  secrets,
  ...config
}: Pick<Config, 'settings' | 'secrets' | 'channels' | 'brandOf' | 'dkim'>): MailSetup | null => {
  const { mail, gateway } = settings;
  const { smtpUrl } = secrets;
  const sender = mail.from === null || smtpUrl === null ? null : { from: mail.from, smtpUrl };
  if ((sender === null && config.channels.length === 0) || gateway.publicOrigin === null) return null;
  const { channels, brandOf, dkim } = config;
  const hooks = { secrets: secrets.hookSecrets, ...gateway.hooks };
  return { mail, sender, channels, brandOf, dkim, hooks, origin: gateway.publicOrigin };
};

/** The address of a right: from the claims of a signed session, and nowhere else. */
export const addressOf = ({ mail, sender }: MailSetup, { claims }: Pick<ReportRight, 'claims'>): string | undefined =>
  sender === null || claims.email_verified === false
    ? undefined
    : readAddress(claims[mail.addressClaim], mail.allowedDomains);

/** The channels that the right grants for a dashboard, as far as the configuration has them. */
export const channelsOf = ({ channels }: MailSetup, right: ReportRight, openedId: string): readonly Channel[] => {
  const granted = right.channels.get(openedId) ?? [];
  return channels.filter(({ name }) => granted.includes(name));
};

/** Where a message goes by this right; undefined: nowhere. */
export const wayOf = (
  setup: MailSetup,
  right: ReportRight,
  { openedId, channel: name }: Way,
): Granted['to'] | undefined => {
  if (name === null) {
    const address = addressOf(setup, right);
    return address === undefined ? undefined : { address };
  }
  const channel = channelsOf(setup, right, openedId).find((one) => one.name === name);
  return channel === undefined ? undefined : { channel };
};

export const noWay = ({ channel }: Way) => (channel === null ? 'no-address' : 'no-channel');
