/** The numbers in the message itself, from the operation to the mailbox: each is what its recipient's own token reads. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isPostgresThere } from '../suites/postgres.js';
import { all, openReporting, type Reporting, reportPolicy, type Started, type User } from './reporting.js';

const admins = { name: 'admins', when: '"admin" in user.roles', grant: { templates: ['delays'], schedule: true } };
const ownStates = { name: 'own states', when: 'true', restrict: { dashboardFilters: { State: 'user.claims.states' } } };
const policy = reportPolicy({ rules: [all, admins], restrictions: [ownStates] });

describe.skipIf(!(await isPostgresThere()))('a message of a report', () => {
  let reporting: Reporting;
  beforeAll(async () => {
    reporting = await openReporting();
    await reporting.addMetric('delays', 'All sales', {
      kind: 'visual',
      chart: { type: 'singleValue' },
      from: { schemaName: 'main', tableName: 'sales' },
      dimensions: [],
      measures: [{ name: 'Count', aggregate: 'COUNT' }],
      filters: [],
      rlsVariables: [],
      underlying: [],
      drillPath: [],
      sort: [],
      limit: null,
    });
  }, 60_000);
  afterAll(() => reporting.close());
  beforeEach(() => {
    reporting.mailbox.received.length = 0;
  });

  const login = (started: Started, name: string, states: readonly string[], roles: readonly string[] = []) => {
    const claims = { sub: `${name}.${started.clientId}`, email: `${name}@customer.example`, roles, states };
    return reporting.login(started, 'a', claims);
  };
  const countOf = async (user: User): Promise<number> => {
    const metric = (await reporting.metricsOf(user)).at(-1);
    const path = `/api/v2/guest/metrics/${metric?.metricId}/query`;
    const dashboardId = user.board.split('/').at(-1);
    const { body } = await reporting.call('POST', path, user.token, { dashboardId });
    return Number((body as { data: { Count: number }[] }).data[0]?.Count);
  };

  test.each(['csv', 'pdf', 'xlsx'])(
    'shows each recipient their own numbers, beside a file in format %s',
    async (format) => {
      const started = await reporting.start(policy);
      const boss = await login(started, 'boss', ['CA', 'NV', 'NY'], ['admin']);
      const readers = { ann: await login(started, 'ann', ['NY']), bob: await login(started, 'bob', ['CA', 'NV']) };
      const wanted = [await countOf(readers.ann), await countOf(readers.bob)];
      expect(new Set([...wanted, await countOf(boss)]).size).toBe(3);
      const users = ['ann', 'bob'].map((name) => `guestlist-demo|${name}.${started.clientId}`);
      const { id } = await reporting.schedule(boss, { recipients: { users }, format });
      await reporting.sendNow(boss, id);
      expect(await reporting.settled(id)).toEqual(['ann sent', 'bob sent']);
      const told = reporting.mailbox.received.map(({ mail, recipients }) => [
        recipients[0],
        /All sales: (\d+)/.exec(mail.text ?? '')?.[1],
        String(mail.html).includes('All sales'),
      ]);
      expect(told.toSorted()).toEqual([
        ['ann@customer.example', String(wanted[0]), true],
        ['bob@customer.example', String(wanted[1]), true],
      ]);
    },
    60_000,
  );

  test('with a link alone holds no number', async () => {
    const started = await reporting.start(policy);
    const boss = await login(started, 'boss', ['CA', 'NV', 'NY'], ['admin']);
    const { id } = await reporting.schedule(boss, { format: 'link' });
    await reporting.sendNow(boss, id);
    expect(await reporting.settled(id)).toEqual(['boss sent']);
    expect(reporting.mailbox.received[0]?.mail.text).not.toContain('All sales');
  }, 30_000);
});
