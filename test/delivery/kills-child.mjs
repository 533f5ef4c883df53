/** A sender that a test kills. Its right and its report are scripted; its ledger and its mail server are real. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createMailer } from '../../dist/delivery/mailer.js';
import { createSender } from '../../dist/delivery/sender.js';
import { openDatabase } from '../../dist/platform/databases/database.js';
import { createStore } from '../../dist/service/store/store.js';

const [databaseUrl, smtpUrl, leaseMs] = process.argv.slice(2);
const database = await openDatabase({ databaseUrl, folder: null });
const store = createStore(database.connect(), { seal: (text) => text, open: (text) => text });

const send = createSender({
  store,
  clock: { now: () => new Date() },
  ids: { uuid: randomUUID },
  decide: async ({ schedule: { owner } }) => {
    if (owner.clientId === 'suspended') return { refused: 'no-right' };
    return {
      to: { address: 'ann@customer.example' },
      read: async () => {
        await wait(Math.random() * 10);
        return { dashboardName: 'Delays', dashboardUrl: null, alert: null, attachments: [] };
      },
      isStillGood: async () => true,
    };
  },
  brandOf: () => ({
    from: { name: '', address: 'reports@analytics.example' },
    replyTo: null,
    logo: null,
    opening: null,
    closing: null,
  }),
  findRecipients: async () => ({ recipients: ['ann', 'bob'] }),
  mailer: createMailer({
    ...{ smtpUrl, dkim: null, timeoutMs: 5_000, isTlsRequired: false },
  }),
  post: () => Promise.reject(new Error('these schedules have no channel')),
  unsubscribeUrl: async ({ schedule: { id } }) => `https://analytics.example/reports/unsubscribe/${id}`,
  domain: 'analytics.example',
  log: { info: () => {}, warn: () => {} },
  perClientPerMinute: 1_000_000,
  spreadMs: 0,
  attempts: 1_000,
  largestBytes: 1_000_000,
  leaseMs: Number(leaseMs),
  readTimeoutMs: 5_000,
  stopping: new AbortController().signal,
});

process.stdout.write('ready\n');
const work = async () => {
  for (;;) if (!(await send())) await wait(20);
};
await Promise.all([work(), work(), work(), work()]);
