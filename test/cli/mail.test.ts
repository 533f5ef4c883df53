/** `guestlist mail try`, with a real mail server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Mailbox, openMailbox } from '../delivery/mailbox.js';
import { runCli } from './in-process.js';

let folder: string;
let mailbox: Mailbox;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'guestlist-mail-'));
  mailbox = await openMailbox();
});
afterAll(async () => {
  await mailbox.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  mailbox.received.length = 0;
  mailbox.behave('take');
});

const usual = { from: 'reports@analytics.example', allowedDomains: ['customer.example'], isTlsRequired: false };

/** Runs it in a folder with these settings, and with secrets of other parts missing. */
const tryMail = (mail: object, address = 'ann@customer.example', ...more: readonly string[]) => {
  const session = { issuers: [{ issuer: 'a', algorithms: ['HS256'], secretVariable: 'NOT_SET' }] };
  const gateway = { publicOrigin: 'https://numbers.example', session };
  const file = join(folder, 'guestlist.yaml');
  writeFileSync(file, JSON.stringify({ mail: { ...usual, ...mail }, gateway }));
  const smtpUrl = mailbox.url.replace('smtp://', 'smtp://ann:the-password@');
  const env = { GUESTLIST_CONFIG: file, GUESTLIST_SMTP_URL: smtpUrl };
  return runCli(['mail', 'try', address, ...more], { cwd: folder, env });
};

describe('guestlist mail try', () => {
  it('sends one message and says each step', async () => {
    const { code, out } = await tryMail({});
    expect([code, out]).toEqual([0, expect.stringMatching(/done +connection\ndone +tls\n.*done +message\n/s)]);
    expect(out).toContain('The mail server has taken the message.');
    expect(mailbox.received.map(({ recipients, mail }) => [recipients, mail.subject])).toEqual([
      [['ann@customer.example'], 'Test message of Guestlist'],
    ]);
  });

  it('names the cause and the setting where the server offers no TLS, and never the password', async () => {
    const { code, out, err } = await tryMail({ isTlsRequired: true });
    expect([code, mailbox.received]).toEqual([1, []]);
    expect(out).toMatch(/done +connection\nfailed +tls\nnot reached +login\n/);
    expect(out).toContain('mail-no-tls: the mail server offers no TLS, and TLS is required (status 500)');
    expect(out).toContain('change mail.isTlsRequired: ');
    expect(out + err).not.toContain('the-password');
  });

  it('sends as a tenant with a sender of its own, which the server may refuse', async () => {
    mailbox.behave({ to: 'sender', status: 553, text: '5.7.1 not owned by user' });
    const tenants = { LAX: { from: 'reports@lax.example' } };
    const { code, out } = await tryMail({ tenants }, 'ann@customer.example', '--tenant', 'LAX', '--json');
    expect([code, JSON.parse(out)]).toEqual([
      1,
      expect.objectContaining({
        ...{ isSent: false, from: 'reports@lax.example' },
        fault: expect.objectContaining({ reason: 'mail-sender-refused', setting: 'mail.from', status: 553 }),
      }),
    ]);
  });

  it('says that reports do not go to an address of another domain', async () => {
    expect((await tryMail({}, 'ann@elsewhere.example')).out).toContain('not in mail.allowedDomains');
  });

  it.each<readonly [string, object, string, RegExp]>([
    ['a text that is no address', {}, 'ann', /"ann" is no address of e-mail/],
    [
      'an installation without a sender',
      { from: null },
      'ann@customer.example',
      /no mail server is set up: set mail\.from/,
    ],
    [
      'a faulty setting, by its line',
      { fron: 'x' },
      'ann@customer.example',
      /guestlist\.yaml:1:\d+: mail\.fron: .*did you mean "from"/,
    ],
  ])('refuses to send anything for %s', async (_, mail, address, expected) => {
    const { code, err } = await tryMail(mail, address);
    expect([code, err]).toEqual([2, expect.stringMatching(expected)]);
  });
});
