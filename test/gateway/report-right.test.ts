/** What a user who is away may see: decided by the last session, and by what holds now. */
import { describe, expect, test } from 'vitest';
import { viewAsInput } from '../../src/gateway/view-as.js';
import { testSealer } from '../suites/sealer.js';
import { analyst, regional, sign, startGateway, startSeconds } from './harness.js';
import { changeablePolicies, policyOf } from './policies.js';

const dayMs = 86_400_000;
const recipients = { sealer: testSealer, keepDays: 30 };
const ann = { clientId: 'LAX', userIdentifier: 'guestlist-demo|ann' };
const rea = { clientId: 'SFO', userIdentifier: 'guestlist-demo|rea' };

const start = async (overrides: Parameters<typeof startGateway>[0] = {}) => {
  const gateway = await startGateway({ recipients, ...overrides });
  const { findReportRight } = gateway;
  if (findReportRight === null) throw new Error('sessions must be kept');
  return { ...gateway, right: (subject = ann) => findReportRight(subject, 'the-report') };
};

describe('the right of a user who is away', () => {
  test('is the user’s own token, of the last session', async () => {
    const { granted, right } = await start();
    const { token } = await granted(analyst);
    expect(await right()).toEqual({
      ...{ token, channels: new Map(), scheduling: new Map(), roles: ['analyst'] },
      claims: expect.objectContaining({ sub: 'ann', roles: ['analyst'] }),
    });
  });

  test('has the restrictions of the policy', async () => {
    const { granted, right, upstream } = await start();
    await granted(regional);
    expect(await right(rea)).not.toBeNull();
    expect(upstream.lastMint()).toMatchObject({
      clientId: 'SFO',
      params: { dashboardAppFilters: [{ values: { 'Destination state': 'CA' } }] },
    });
  });

  test('is none for users who never came, and for those of another tenant', async () => {
    const { granted, right } = await start();
    await granted(analyst);
    expect(await right({ ...ann, clientId: 'SFO' })).toBeNull();
    expect(await right({ ...ann, userIdentifier: 'guestlist-demo|bob' })).toBeNull();
  });

  test('is lost with the role, once the host has said so in a session, granted or not', async () => {
    const { granted, refused, right, clock } = await start();
    await granted(analyst);
    clock.advance(1000);
    const { code } = await refused(sign({ ...analyst, roles: [], iat: startSeconds + 1 }));
    expect(code).toBe('NO_POLICY');
    expect(await right()).toBeNull();
  });

  test('is not brought back by an older session', async () => {
    const { granted, refused, right, clock } = await start();
    await granted(analyst);
    clock.advance(1000);
    await refused(sign({ ...analyst, roles: [], iat: startSeconds + 1, auth_time: startSeconds - 5 }));
    await granted(sign({ ...analyst, auth_time: startSeconds - 5 }));
    expect(await right()).toBeNull();
  });

  test('ends when the tenant is suspended, and returns with a login after it is resumed', async () => {
    const { granted, right, run, clock } = await start();
    await granted(analyst);
    await run('tenant-suspend', { clientId: 'LAX' });
    expect(await right()).toBeNull();
    clock.advance(1000);
    await run('tenant-resume', { clientId: 'LAX' });
    clock.advance(60_000);
    await granted(sign({ ...analyst, iat: startSeconds + 61 }));
    expect(await right()).not.toBeNull();
  });

  test('ends when the user is revoked, until the next login', async () => {
    const { granted, right, run, clock } = await start();
    await granted(analyst);
    clock.advance(1000);
    await run('revoke', { by: 'user', subject: 'ann', issuer: 'guestlist-demo', reason: 'left' });
    expect(await right()).toBeNull();
    clock.advance(60_000);
    await granted(sign({ ...analyst, iat: startSeconds + 61 }));
    expect(await right()).not.toBeNull();
  });

  test('follows the policy in force', async () => {
    const policies = changeablePolicies(policyOf({}));
    const { granted, right } = await start({ policies });
    await granted(analyst);
    expect(await right()).not.toBeNull();
    await policies.change(policyOf({ rules: [{ name: 'nobody', when: 'false', grant: { templates: ['delays'] } }] }));
    expect(await right()).toBeNull();
  });

  test('ends with a session that was not seen for long, which is then removed', async () => {
    const { granted, right, clock, ledger } = await start();
    await granted(analyst);
    clock.advance(30 * dayMs - 1);
    expect(await right()).not.toBeNull();
    clock.advance(1);
    expect(await right()).toBeNull();
    expect(await ledger.db.selectFrom('recipients').selectAll().execute()).toHaveLength(1);
  });

  test('is not decided by a view of an operator', async () => {
    const { viewAs, right, ledger } = await start();
    const viewing = { by: 'link operator', requestId: 'the-view', mayProvision: true };
    await viewAs(viewAsInput.parse({ clientId: 'LAX', claims: analyst }), viewing);
    expect(await ledger.db.selectFrom('recipients').selectAll().execute()).toEqual([]);
    expect(await right()).toBeNull();
  });

  test('cannot be decided while the service is down, which is no refusal', async () => {
    const { granted, right, upstream, clock } = await start();
    await granted(analyst);
    clock.advance(3_600_000);
    upstream.state.intercept = () => upstream.refusal(503, 'INTERNAL_SERVER_ERROR');
    await expect(right()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});

describe('the sessions of users', () => {
  test('are stored sealed, and once for each change', async () => {
    const { granted, ledger } = await start();
    await granted(analyst);
    const rows = () => ledger.db.selectFrom('recipients').selectAll().execute();
    const [first] = await rows();
    expect(JSON.stringify(first)).not.toMatch(/ann|LAX|analyst/);
    await granted(analyst);
    expect(await rows()).toEqual([first]);
    await granted({ ...analyst, roles: ['analyst', 'manager'] });
    expect(await rows()).not.toEqual([first]);
  });

  test('are erased with their tenant, and those of other tenants are kept', async () => {
    const { granted, ledger, run, right } = await start();
    await granted(analyst);
    await granted(regional);
    await run('tenant-delete', { clientId: 'LAX' });
    const rows = await ledger.db.selectFrom('recipients').select('tenant_ref').execute();
    expect(rows).toEqual([{ tenant_ref: ledger.refOf('SFO') }]);
    expect(await right()).toBeNull();
    expect(await right(rea)).not.toBeNull();
  });

  test('are not stored unless reports are on', async () => {
    const { granted, ledger, findReportRight } = await startGateway();
    await granted(analyst);
    expect(findReportRight).toBeNull();
    expect(await ledger.db.selectFrom('recipients').selectAll().execute()).toEqual([]);
  });
});
