/** Sends a test message with the configured mail server. */
import { randomUUID } from 'node:crypto';
import { mailSetupOf } from '../delivery/mail-setup.js';
import { createMailer } from '../delivery/mailer.js';
import { type MailTrial, tryMail } from '../delivery/try-mail.js';
import { readAddress } from '../model/schedule/address.js';
import type { Config } from '../platform/config/config.js';

export type ConfiguredTrial = MailTrial & {
  readonly server: { readonly host: string; readonly hasLogin: boolean; readonly isTlsRequired: boolean };
  readonly from: string;
  /** Whether reports may go to the address. */
  readonly isAllowed: boolean;
};

const timeoutMs = 30_000;

/** Returns undefined if no mail server and sender are configured. `tenant` may have a sender of its own. */
export const tryConfiguredMail = async (
  config: Config,
  { to, tenant }: { readonly to: string; readonly tenant: string | undefined },
): Promise<ConfiguredTrial | undefined> => {
  const setup = mailSetupOf(config);
  if (setup === null || setup.sender === null) return undefined;
  const { mail, sender, dkim } = setup;
  const brand = tenant === undefined ? config.brandOf('') : config.brandOf(tenant);
  const mailer = createMailer({ ...mail, ...sender, dkim, timeoutMs });
  const trial = await tryMail(mailer, brand, { to, id: randomUUID() });
  const { host, username } = new URL(sender.smtpUrl);
  return {
    ...trial,
    server: { host, hasLogin: username !== '', isTlsRequired: mail.isTlsRequired },
    from: brand.from.address,
    isAllowed: readAddress(to, mail.allowedDomains) !== undefined,
  };
};
