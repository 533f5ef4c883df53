/** What became of a delivery, and why it was not sent, in words. */
import { findMailFault, mailFaultText } from '../../../model/schedule/mail-faults.js';

/** What the reasons mean, for people who do not know the words of the interface. */
const reasons: Readonly<Record<string, string>> = {
  'no-right':
    'the user may not have it in this tenant: the policy grants no such dashboard, or isAllowEmailReports or isEnableDownloadMetrics is off',
  'no-address': 'the login names no allowed address: see mail.addressClaim and mail.allowedDomains',
  'no-recipients': 'nobody has the role',
  'no-right-to-share': 'its author may no longer send it to others: see scheduling in the policy',
  'not-confirmed': 'the address is not confirmed yet: its owner was asked by mail',
  'no-channel': 'the policy does not grant the channel, or the configuration has none of this name',
  muted: 'the user muted it',
  'mail-unanswered': 'the mail server did not answer whether it took it',
  'attempts-used-up': 'every attempt failed: see mail.attempts',
  'nothing-to-tell': 'no breach began or ended',
  'quiet-hours': 'nothing was checked in the quiet hours',
  'metric-changed': 'the tenant’s chart no longer has the measure',
  'measure-not-numeric': 'the measure is no number',
  'too-many-rows': 'the chart has too many rows',
  'channel-refused': 'the channel refused it',
  'channel-unreachable': 'the channel could not be reached',
  'channel-unanswered': 'the channel did not answer',
  'channel-address': 'the channel’s address may not be reached',
  'tenant-suspended': 'the tenant is suspended',
  stopped: 'the user does not want it',
  paused: 'it was paused',
  missed: 'its time passed while nothing was sent',
  'content-failed': 'the dashboard could not be read',
  'content-too-large': 'its files are too large',
  'mail-bounced': 'it came back',
  'too-many-recipients': 'too many users have the role',
};

/** In a few words. Empty without a reason. */
export const reasonCause = (reason: string | null): string =>
  reason === null ? '' : (findMailFault(reason)?.cause ?? reasons[reason] ?? reason);

/** With the setting to change, where a mail server did not take it. */
export const reasonText = (reason: string | null): string => {
  const fault = reason === null ? undefined : findMailFault(reason);
  return fault === undefined ? reasonCause(reason) : mailFaultText(fault);
};

const outcomes: Readonly<Record<string, readonly [words: string, kind: 'good' | 'bad' | 'warn' | 'plain']>> = {
  sent: ['sent', 'good'],
  shared: ['sent', 'good'],
  checked: ['checked', 'good'],
  failed: ['not sent', 'bad'],
  skipped: ['left out', 'warn'],
  sending: ['being sent', 'plain'],
  due: ['waiting', 'plain'],
};

/** What became of a delivery, and whether that is good. */
export const outcomeWords = (state: string) => outcomes[state] ?? ([state, 'plain'] as const);

/** What became of the deliveries of one moment: “41 sent, 2 left out”. */
export const outcomesText = (counts: Readonly<Partial<Record<string, number>>>): string => {
  const byWords = new Map<string, number>();
  for (const [state, count = 0] of Object.entries(counts)) {
    const [words] = outcomeWords(state);
    byWords.set(words, (byWords.get(words) ?? 0) + count);
  }
  return [...byWords].map(([words, count]) => `${count} ${words}`).join(', ');
};
