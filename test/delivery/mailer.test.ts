/** Messages as a mail server receives them, and what a mail server answers. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkMailServer, createMailer, type Mail, type Mailer } from '../../src/delivery/mailer.js';
import { messageOf, type ReportText } from '../../src/delivery/message.js';
import { plainLine } from '../../src/delivery/plain-line.js';
import { isRecord } from '../../src/model/is-record.js';
import { readAddress } from '../../src/model/schedule/address.js';
import type { CellDates } from '../../src/model/schedule/alert.js';
import { type MailFault, mailFaultNames, mailFaults } from '../../src/model/schedule/mail-faults.js';
import { secretVariables } from '../../src/platform/config/environment.js';
import { defaultSettings } from '../../src/platform/config/settings.js';
import { loadDkim } from '../../src/platform/keys/dkim.js';
import { createCertificate, isOpensslThere } from '../suites/tls.js';
import { verifyDkim } from './dkim.js';
import { type Mailbox, openMailbox, type Reply } from './mailbox.js';

const from = { name: '', address: 'reports@analytics.example' };
const brand = { from, replyTo: 'help@analytics.example', language: null, logo: null, opening: null, closing: null };
const report: ReportText = {
  scheduleName: 'Each morning',
  dashboardName: 'Delays',
  format: 'pdf',
  alert: null,
  moment: new Date('2026-10-26T07:00:00Z'),
  timezone: 'Europe/Berlin',
  dashboardUrl: 'https://app.example/reports?dashboard=delays&from=mail',
  unsubscribeUrl: 'https://analytics.example/reports/unsubscribe/a.b',
  brand,
  isForOthers: false,
};

const pdf = { filename: 'Delays.pdf', contentType: 'application/pdf', content: new TextEncoder().encode('%PDF-1.7') };
const mailOf = (fields: Partial<ReportText> = {}, more: Partial<Mail> = {}): Mail => ({
  ...messageOf({ ...report, ...fields }),
  ...{ to: 'ann@customer.example', from, replyTo: brand.replyTo },
  messageId: '<one@analytics.example>',
  attachments: [pdf],
  ...more,
});

/** The value of a setting with this path. */
const valueAt = (tree: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), tree);

let mailbox: Mailbox;
let mailer: Mailer;
const options = {
  dkim: null,
  timeoutMs: 5_000,
  isTlsRequired: false,
};
beforeAll(async () => {
  mailbox = await openMailbox();
  mailer = createMailer({ ...options, smtpUrl: mailbox.url });
});
afterAll(async () => {
  await mailbox.close();
});
beforeEach(() => {
  mailbox.received.length = 0;
  mailbox.behave('take');
});

const sent = async (mail: Mail) => {
  expect(await mailer.send(mail)).toEqual({ kind: 'taken' });
  const [received, ...others] = mailbox.received;
  if (received === undefined || others.length > 0) throw new Error('one message must arrive');
  return received;
};

describe('a message', () => {
  test('has plain text beside HTML, the file, and an unsubscription with one click', async () => {
    const { mail, raw, recipients } = await sent(mailOf());
    expect(recipients).toEqual(['ann@customer.example']);
    expect(mail.subject).toBe('Each morning: Delays');
    expect(mail.messageId).toBe('<one@analytics.example>');
    expect(mail.text).toContain('Delays, 26 October 2026 at 08:00 (Europe/Berlin)');
    expect(mail.text).toContain(report.unsubscribeUrl);
    expect(mail.html).toContain('href="https://app.example/reports?dashboard=delays&amp;from=mail"');
    expect(raw).toMatch(/^List-Unsubscribe: <https:\/\/analytics\.example\/reports\/unsubscribe\/a\.b>\r$/m);
    expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    expect(mail.replyTo?.text).toBe('help@analytics.example');
    expect(mail.attachments.map(({ filename, contentType, content }) => [filename, contentType, content])).toEqual([
      ['Delays.pdf', 'application/pdf', Buffer.from('%PDF-1.7')],
    ]);
  });

  test('has no link to a dashboard that no page shows', async () => {
    const { mail } = await sent(mailOf({ dashboardUrl: null, format: 'link' }, { attachments: [] }));
    expect(mail.text).not.toContain('Open the dashboard:');
    expect(mail.attachments).toEqual([]);
  });

  test('takes no header, recipient or markup from names', async () => {
    const hostile = '</title><script>alert(1)</script>\r\nBcc: mallory@evil.example\r\n\r\n"<b>&\u202e\u2028x';
    const { mail, recipients, raw } = await sent(
      mailOf(
        { scheduleName: hostile, dashboardName: hostile },
        { attachments: [{ ...pdf, filename: `${hostile}.pdf` }] },
      ),
    );
    expect(recipients).toEqual(['ann@customer.example']);
    expect(mail.headers.has('bcc')).toBe(false);
    expect(raw).not.toMatch(/^Bcc:/im);
    expect(mail.html).not.toMatch(/<script|<b>/);
    expect(mail.html).toContain('&lt;script&gt;');
    expect(mail.subject).not.toMatch(/[\p{Cc}\u202e\u2028]/u);
  });

  test('speaks the language of its recipient, from right to left too', async () => {
    const german = messageOf({ ...report, language: 'de' });
    expect(german.text).toContain('Delays, 26. Oktober 2026 um 08:00 (Europe/Berlin)');
    expect(german.text).toContain('Das Dashboard ist als PDF angehängt.');
    expect(german.text).toContain(`Diese Nachrichten beenden: ${report.unsubscribeUrl}`);
    expect(german.html).toContain('<html lang="de" dir="ltr">');
    const arabic = await sent(mailOf({ language: 'ar-EG', scheduleName: 'كل صباح', dashboardName: 'Delays (b)' }));
    expect(arabic.mail.subject).toBe('كل صباح: Delays (b)');
    expect(arabic.mail.html).toContain('<html lang="ar-EG" dir="rtl">');
    expect(arabic.mail.html).toContain('\u2068Delays (b)\u2069');
    expect(arabic.mail.text).toContain('لوحة المعلومات مرفقة بصيغة PDF.');
    expect(arabic.raw).toMatch(/^Content-Language: ar-EG\r$/m);
  });

  test('writes values of an alert as its recipient reads numbers and dates', () => {
    const condition = { is: 'below', value: 1200.5 } as const;
    const found = { condition, isBreached: true, hasChanged: true, isAnew: false, before: null, change: null };
    const alert = {
      ...found,
      metricId: 'm',
      metricName: 'Flüge',
      measure: 'Flights',
      value: 1100.25,
      at: ['2001-03-04T00:00:00'],
    };
    const texts = { ...report, format: 'alert', alert: { ...alert, appeared: [] } } as const;
    expect(messageOf({ ...texts, language: 'de' }).text).toContain(
      'Flüge: Flights ist 1.100,25 (04.03.2001).\n\nDer Wert liegt unter 1.200,5.',
    );
    expect(messageOf(texts).text).toContain('Flüge: Flights is 1,100.25 (4 Mar 2001).\n\nThe value is below 1,200.5.');
    expect(messageOf({ ...texts, language: 'de' }).subject).toBe('Alarm: Each morning: Delays');
    const dated = (at: string, dates: CellDates, language?: string) =>
      messageOf({ ...texts, language, alert: { ...texts.alert, at: [at], dates: [dates] } }).text;
    const [start, time] = ['2001-04-01T00:00:00', '2001-04-01T14:05:09'];
    expect(dated(start, { grain: 'month' })).toContain('(April 2001)');
    expect(dated(start, { grain: 'month', style: 'short' }, 'de')).toContain('(04/2001)');
    expect(dated(start, { grain: 'quarter' }, 'es')).toContain('(T2 2001)');
    expect(dated(start, { grain: 'day' }, 'de')).toContain('(01.04.2001)');
    expect(dated(time, { style: 'full', precision: 'day' }, 'de')).toContain('(Sonntag, 1. April 2001)');
    expect(dated(time, { precision: 'day' })).toContain('(1 Apr 2001)');
  });

  test('shows pictures and the logo in its body, with what they show in words', async () => {
    const logo = { contentType: 'image/png', content: new TextEncoder().encode('logo') } as const;
    const words = { opening: 'From <Acme> & friends', closing: 'Bye.' };
    const own = { from: { name: 'Acme, "Inc."', address: from.address }, logo, ...words };
    const pictures = [{ cid: 'picture-1', name: '"Delays" <b>' }];
    const files = [
      { filename: 'logo.png', ...logo, cid: 'logo' },
      { filename: 'Delays.png', contentType: 'image/png', content: new TextEncoder().encode('one'), cid: 'picture-1' },
    ];
    const fields = { format: 'png', brand: own, pictures } as const;
    const { mail, raw } = await sent(mailOf(fields, { attachments: files, from: own.from }));
    expect(mail.from?.value).toEqual([{ name: 'Acme, "Inc."', address: 'reports@analytics.example' }]);
    const inline = mail.attachments.map(({ cid, contentDisposition, content }) => [
      cid,
      contentDisposition,
      `${content}`,
    ]);
    expect(inline).toEqual([
      ['logo', 'inline', 'logo'],
      ['picture-1', 'inline', 'one'],
    ]);
    expect(messageOf({ ...report, ...fields }).html).toContain('<img src="cid:logo" alt="Acme, &quot;Inc.&quot;"');
    expect(messageOf({ ...report, ...fields }).html).toContain('alt="Picture of &quot;Delays&quot; &lt;b&gt;"');
    expect(mail.html).toMatch(/<p [^>]*>From &lt;Acme&gt; &amp; friends<\/p>/);
    expect(mail.text).toContain('The dashboard is in this message as a picture.');
    expect(mail.text?.indexOf('Bye.')).toBeLessThan(mail.text?.indexOf('You receive') ?? 0);
    expect(raw).toMatch(/^Content-Type: multipart\/related;/m);
    expect(raw).toMatch(/^Content-Type: multipart\/alternative;/m);
  });

  test('shows numbers to read without opening anything, in the currency of each and in both of its forms', () => {
    const figures = [
      { name: 'Revenue', values: [{ value: 1234.5, numbers: { currency: 'EUR' } }], before: 1000 },
      {
        name: 'Fees <b>',
        values: [
          { value: 2, numbers: { currency: 'JPY' } },
          { value: 3.5, numbers: { currency: 'KWD' } },
        ],
        before: null,
      },
      { name: 'Delayed', values: [{ value: null, numbers: {} }], before: null },
    ];
    const { html, text } = messageOf({ ...report, language: 'en-GB', figures });
    expect(text).toContain('Revenue: €1,234.50. Before: €1,000.00.\nFees <b>: ¥2 · KWD\u00a03.500\nDelayed: —\n');
    for (const shown of ['€1,234.50', 'Before: €1,000.00.', 'Fees &lt;b&gt;', '>¥2<', '>KWD\u00a03.500<'])
      expect(html).toContain(shown);
    expect(messageOf({ ...report, language: 'de', figures }).text.replaceAll('\u00a0', ' ')).toContain('1.234,50 €');
  });

  test('names no address but those of its links, so that nothing is loaded when it is opened', () => {
    const { html } = messageOf({ ...report, dashboardUrl: 'https://app.example/d' });
    const addresses = [...html.matchAll(/(?:https?:)?\/\/[^"'\s)]+/g)].map(([address]) => address);
    expect(new Set(addresses)).toEqual(new Set(['https://app.example/d', report.unsubscribeUrl]));
    expect(html).not.toMatch(/@import|url\(/);
  });

  test('is signed, so that a change of it is found (DKIM)', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString().replaceAll('\n', '\\n');
    const { dkim, faults } = loadDkim({ domain: 'analytics.example', selector: 'one', keyFile: null }, pem, '.');
    expect(faults).toEqual([]);
    const signing = createMailer({ ...options, dkim, smtpUrl: mailbox.url });
    expect(await signing.send(mailOf())).toEqual({ kind: 'taken' });
    const raw = mailbox.received[0]?.raw ?? '';
    const record = `v=DKIM1; k=rsa; p=${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`;
    const txt = (name: string) => (name === 'one._domainkey.analytics.example' ? record : undefined);
    const verdict = verifyDkim(raw, txt);
    expect(verdict).toMatchObject({ domain: 'analytics.example', isGood: true });
    expect(verdict?.signed).toEqual(expect.arrayContaining(['from', 'to', 'subject', 'list-unsubscribe-post']));
    const changed = [raw.replace(/^Subject: Each/m, 'Subject: Bach'), raw.replace('JVBERi', 'JVBERj')];
    expect(changed.map((text) => [text === raw, verifyDkim(text, txt)?.isGood])).toEqual([
      [false, false],
      [false, false],
    ]);
  });

  test('has one subject line whatever the names are', () => {
    const plainTags = messageOf(report).html.match(/<(?:style|a|h1|td)\b/g);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (name) => {
        const { subject, html } = messageOf({ ...report, scheduleName: name, dashboardName: name });
        expect(subject).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect([...subject].length).toBeLessThanOrEqual(200);
        expect(
          html.match(/<(?!!--\[|!\[|\/?(?:!doctype|html|head|meta|title|style|body|table|tr|td|div|span|h1|p|a)\b)/g),
        ).toBeNull();
        expect(html.match(/<(?:style|a|h1|td)\b/g)).toEqual(plainTags);
        expect(plainLine(plainLine(name))).toBe(plainLine(name));
      }),
    );
  });
});

describe('the mail server', () => {
  test.each([
    ['refuse-for-good', { kind: 'refused', isFinal: true, status: 554, fault: 'mail-refused' }],
    ['refuse-for-now', { kind: 'refused', isFinal: false, status: 451, fault: 'mail-postponed' }],
    ['refuse-recipient', { kind: 'refused', isFinal: true, status: 550, fault: 'mail-recipient-refused' }],
    ['silent', { kind: 'unanswered', fault: 'mail-unanswered' }],
    ['hang-up', { kind: 'unreachable', fault: 'mail-unreachable' }],
  ] as const)('a mail server that behaves as %s is told apart', async (behaviour, outcome) => {
    mailbox.behave(behaviour);
    expect(await mailer.send(mailOf())).toEqual(outcome);
  });

  // As Postfix, Exchange Online, Amazon SES, Gmail and Haraka write them.
  test.each<readonly [MailFault, Reply['to'], number, string]>([
    ['mail-host-refused', 'connection', 554, '5.7.1 Service unavailable; client host blocked using a list'],
    ['mail-postponed', 'connection', 421, '4.7.0 Too many connections, try again later'],
    ['mail-login-refused', 'login', 535, '5.7.8 Username and Password not accepted'],
    ['mail-login-refused', 'login', 534, '5.7.9 Application-specific password required'],
    ['mail-postponed', 'login', 454, '4.7.0 Temporary authentication failure'],
    ['mail-login-refused', 'sender', 530, '5.7.57 Client not authenticated to send mail'],
    ['mail-sender-refused', 'sender', 550, '5.1.8 Access denied, bad outbound sender'],
    ['mail-too-large', 'sender', 552, '5.3.4 Message size exceeds fixed limit'],
    ['mail-login-refused', 'recipient', 530, '5.7.0 Authentication required'],
    ['mail-sender-refused', 'recipient', 553, '5.7.1 Sender address rejected: not owned by user ann'],
    ['mail-relay-refused', 'recipient', 554, '5.7.1 Relay access denied'],
    ['mail-relay-refused', 'recipient', 550, '5.7.54 SMTP; Unable to relay recipient in non-accepted domain'],
    ['mail-relay-refused', 'recipient', 551, '5.7.1 User not local'],
    ['mail-recipient-refused', 'recipient', 550, '5.1.1 Recipient address rejected: User unknown'],
    ['mail-recipient-refused', 'recipient', 552, '5.2.2 Mailbox full'],
    ['mail-postponed', 'recipient', 450, '4.2.0 Recipient address rejected: Greylisted'],
    ['mail-postponed', 'recipient', 452, '4.2.2 The mailbox is over its quota'],
    ['mail-sender-refused', 'content', 550, '5.7.60 SMTP; Client does not have permissions to send as this sender'],
    ['mail-too-large', 'content', 552, '5.3.4 Message too big for system'],
    ['mail-postponed', 'content', 451, '4.7.1 Greylisting in action, please come back later'],
    ['mail-refused', 'content', 554, '5.7.1 Message rejected as spam by content filter'],
  ])('names %s where the server answers to the %s with %i %s', async (fault, to, status, text) => {
    mailbox.behave({ to, status, text });
    const known = createMailer({ ...options, smtpUrl: mailbox.url.replace('smtp://', 'smtp://user:the-password@') });
    const isFinal = status >= 500 && to !== 'connection' && to !== 'login';
    expect(await known.send(mailOf())).toEqual({ kind: 'refused', isFinal, status, fault });
  });

  test('a mail server that nobody runs is unreachable, and its password is in no outcome', async () => {
    const { close, url } = await openMailbox();
    await close();
    const smtpUrl = url.replace('smtp://', 'smtp://user:the-password@');
    const away = createMailer({ ...options, smtpUrl });
    const outcome = await away.send(mailOf());
    expect(outcome).toEqual({ kind: 'unreachable', fault: 'mail-unreachable' });
  });

  test('a mail server that speaks no TLS gets no message where TLS is required, and the fault says so', async () => {
    const careful = createMailer({ ...options, smtpUrl: mailbox.url, isTlsRequired: true });
    expect(await careful.send(mailOf())).toMatchObject({ kind: 'refused', isFinal: false, fault: 'mail-no-tls' });
    expect(mailbox.received).toEqual([]);
  });

  test.runIf(isOpensslThere())(
    'a certificate that is not trusted is no fault of the login or the message',
    async () => {
      const secured = await openMailbox({ certificate: createCertificate() });
      const outcomes = [];
      for (const smtpUrl of [secured.url, mailbox.url.replace('smtp:', 'smtps:')])
        outcomes.push(await createMailer({ ...options, smtpUrl, isTlsRequired: true }).send(mailOf()));
      await secured.close();
      const certificate = { kind: 'unreachable', fault: 'mail-certificate' };
      expect(outcomes).toEqual([certificate, certificate]);
      expect([...secured.received, ...mailbox.received]).toEqual([]);
    },
  );

  test('a check connects and logs in as a message does, sends none, and names what is wrong', async () => {
    const { close, url } = await openMailbox();
    await close();
    const known = mailbox.url.replace('smtp://', 'smtp://user:the-password@');
    expect(await checkMailServer({ ...options, smtpUrl: known })).toBeNull();
    expect(await checkMailServer({ ...options, smtpUrl: mailbox.url, isTlsRequired: true })).toBe('mail-no-tls');
    expect(await checkMailServer({ ...options, smtpUrl: url })).toBe('mail-unreachable');
    mailbox.behave('refuse-login');
    expect(await checkMailServer({ ...options, smtpUrl: known })).toBe('mail-login-refused');
    expect(mailbox.received).toEqual([]);
  });

  test('a mail server that refuses the login leaves the message for later', async () => {
    mailbox.behave('refuse-login');
    const known = createMailer({ ...options, smtpUrl: mailbox.url.replace('smtp://', 'smtp://user:the-password@') });
    expect(await known.send(mailOf())).toEqual({
      ...{ kind: 'refused', isFinal: false, status: 535 },
      fault: 'mail-login-refused',
    });
    expect(mailbox.received).toEqual([]);
  });
});

describe('the fault of a mail server', () => {
  const page = readFileSync(new URL('../../docs/how-to/reports.md', import.meta.url), 'utf8');

  test.each(mailFaultNames)('%s names a setting that exists, and the how-to explains it', (name) => {
    const { setting, cause } = mailFaults[name];
    const variables: readonly string[] = Object.values(secretVariables).map(({ variable }) => variable);
    const known = setting === null || variables.includes(setting) || valueAt(defaultSettings(), setting) !== undefined;
    expect([known, cause]).toEqual([true, expect.stringMatching(/\bthe (mail server|message)\b/)]);
    expect(page).toContain(`| \`${name}\` |`);
  });
});

describe('an address', () => {
  const allowed = ['customer.example'];

  test('is one of an allowed domain, whatever its case', () => {
    for (const address of ['ann@customer.example', 'Ann.O\u0027Neil+x@Customer.EXAMPLE']) {
      expect(readAddress(address, allowed)).toBe(address);
    }
  });

  test('is nowhere allowed without a list', () => {
    expect(readAddress('ann@customer.example', [])).toBeUndefined();
  });

  test.each([
    'ann@evil.example',
    'ann@sub.customer.example',
    'ann@customer.example.evil.example',
    'ann@evil.example@customer.example',
    'ann@evil.example, bob@customer.example',
    'ann@customer.example\r\nBcc: x@evil.example',
    '"a b"@customer.example',
    'Ann <ann@customer.example>',
    'ann@customer.example ',
    '@customer.example',
    'ann@cu\u0455tomer.example',
    `${'a'.repeat(65)}@customer.example`,
    '',
    7,
    null,
    ['ann@customer.example'],
  ])('%j is no address of e-mail', (value) => {
    expect(readAddress(value, allowed)).toBeUndefined();
  });
});
