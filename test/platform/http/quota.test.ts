/** What is refused when a tenant has used what its plan allows: everything that a guest reads of rows. */
import { expect, test } from 'vitest';
import { Refusal } from '../../../src/model/refusal.js';
import { type CountUse, noUse } from '../../../src/model/usage.js';
import { needsData } from '../../../src/platform/http/interface/callable.js';
import { createDispatch } from '../../../src/platform/http/wire/bind.js';
import { operations } from '../../../src/service/operations.js';
import { exampleRequest } from './requests.js';
import { authenticate, createMemoryLog, guestToken, sampleHandlers } from './sample.js';

const full = async (): Promise<never> => {
  throw new Refusal('QUOTA_REACHED', 'All 5 seats of your organization are taken this month.', {
    reason: 'quota-seats',
  });
};

const asked = async (use: CountUse, operation: (typeof operations)[keyof typeof operations]) => {
  const dispatch = createDispatch({
    operations,
    handlers: sampleHandlers,
    authenticate,
    use,
    log: createMemoryLog().log,
  });
  const { method, path, query, body } = await exampleRequest(operation);
  const authorization = `Bearer ${guestToken}`;
  return dispatch({ method, path, query, body, authorization, signal: new AbortController().signal });
};

const all = Object.values(operations);
const ofGuests = all.filter(({ credentials }) => credentials.some((one) => one === 'guestToken'));
const reading = ofGuests.filter(({ reads }) => needsData(reads));

test.each(reading)('$name: who has no seat is refused with the message', async (operation) => {
  const answer = await asked({ ...noUse, seat: full }, operation);
  expect(answer).toMatchObject({
    status: 403,
    body: { error: { code: 'QUOTA_REACHED', message: 'All 5 seats of your organization are taken this month.' } },
  });
  expect(operation.errors).toMatchObject({ QUOTA_REACHED: 403 });
});

test.each(reading.filter(({ counts }) => counts === 'exports'))(
  '$name: a file is refused before it is made where all files of the day are used',
  async (operation) => {
    expect(await asked({ ...noUse, hold: full }, operation)).toMatchObject({ status: 403 });
  },
);

test('only what tells of rows is refused, so that a page can say why it is empty', async () => {
  const open = ofGuests.filter(({ reads }) => !needsData(reads));
  expect(open.map(({ name }) => name)).toContain('getGuestDashboard');
  for (const operation of open) {
    expect((await asked({ ...noUse, seat: full }, operation))?.refused?.code).not.toBe('QUOTA_REACHED');
    expect(Object.keys(operation.errors)).not.toContain('QUOTA_REACHED');
  }
});
