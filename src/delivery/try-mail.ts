/** One test message through the configured mail server: how far it came, and what to change. */
import { type MailFault, type MailStep, mailFaults, mailSteps } from '../model/schedule/mail-faults.js';
import type { MailBrand } from '../platform/config/mail-brands.js';
import type { Mailer, MailOutcome } from './mailer.js';

export type TriedStep = { readonly step: MailStep; readonly state: 'done' | 'failed' | 'not reached' };

export type MailTrial = {
  readonly isSent: boolean;
  readonly steps: readonly TriedStep[];
  /** Null if it was sent. `status`: what the mail server answered; null: nothing. */
  readonly fault:
    | ((typeof mailFaults)[MailFault] & { readonly reason: MailFault; readonly status: number | null })
    | null;
};

const subject = 'Test message of Guestlist';
const body = 'This message says that the mail server is set up for reports and alerts.';

const stepsOf = (failed: MailStep | undefined): readonly TriedStep[] => {
  const at = failed === undefined ? mailSteps.length : mailSteps.indexOf(failed);
  return mailSteps.map((step, index) => ({
    step,
    state: index < at ? 'done' : index === at ? 'failed' : 'not reached',
  }));
};

const trialOf = (outcome: MailOutcome): MailTrial => {
  if (outcome.kind === 'taken') return { isSent: true, steps: stepsOf(undefined), fault: null };
  const { fault: reason } = outcome;
  const status = 'status' in outcome ? outcome.status : null;
  const row = mailFaults[reason];
  return { isSent: false, steps: stepsOf(row.step), fault: { reason, status, ...row } };
};

/** Sends one message to the address, from the sender of the brand. */
export const tryMail = async (
  mailer: Pick<Mailer, 'send'>,
  { from, replyTo }: Pick<MailBrand, 'from' | 'replyTo'>,
  { to, id }: { readonly to: string; readonly id: string },
): Promise<MailTrial> => {
  const domain = from.address.split('@')[1] ?? 'localhost';
  const content = { subject, text: `${body}\n`, html: `<p>${body}</p>`, headers: {}, attachments: [] };
  return trialOf(await mailer.send({ ...content, to, from, replyTo, messageId: `<${id}@${domain}>` }));
};
