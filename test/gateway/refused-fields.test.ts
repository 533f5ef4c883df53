/**
 * A service of another product refuses a field of a mint: the log names the field, and no token is minted without it.
 */
import { describe, expect, it } from 'vitest';
import { MintRefusal, mintErrorOf } from '../../src/gateway/token/mint-refusal.js';
import { createHttpUpstream } from '../../src/gateway/upstream/http-upstream.js';
import { UpstreamRefusal } from '../../src/platform/http/interface/client.js';
import type { GuestTokenRequest } from '../../src/service/guest-tokens/contract/guest-tokens.js';
import { captureLog, createMovableClock, regional, startGateway, usualUpstream } from './harness.js';
import { policyOf } from './policies.js';
import { startScriptedService } from './scripted-service.js';

const request: GuestTokenRequest = {
  clientId: 'LAX',
  dataAppName: 'flights',
  params: {
    allowedEmbeds: ['delays--LAX'],
    rlsSettings: [{ metricId: 'm1', values: { state: 'CA' } }],
    appFilters: [{ metricId: 'm1', values: { state: 'CA' } }],
    dashboardAppFilters: [{ dashboardId: 'delays--LAX', values: { state: 'CA' }, isShowOnUrl: false }],
    userIdentifier: 'idp|ann',
    timezone: 'UTC',
    accessPermissions: { isAllowEndUserMetricFilter: true },
  },
  permissions: { isShowSideBar: false, isEnableDownloadMetrics: true },
  expiryTime: 900_000,
};
const sentFields = [
  ...['clientId', 'dataAppName'],
  ...['params.allowedEmbeds', 'params.rlsSettings', 'params.appFilters', 'params.dashboardAppFilters'],
  ...['params.userIdentifier', 'params.timezone', 'params.accessPermissions'],
  ...['permissions.isShowSideBar', 'permissions.isEnableDownloadMetrics', 'expiryTime'],
];
const error = (code: string, message: string, more: object = {}) => ({ error: { code, message, ...more } });

/** The fields that the gateway reads from this answer to a mint. */
const fieldsIn = (code: string, body: unknown): unknown => {
  const refused = new UpstreamRefusal(400, code, 'no', { status: 400, body });
  const error = mintErrorOf(refused, request);
  const { cause } = error as Error;
  if (!(cause instanceof MintRefusal)) throw new Error('no refusal of a mint', { cause: error });
  return cause.fields;
};

describe('the refused field in an answer', () => {
  it.each<[string, string, unknown, readonly string[], string]>([
    [
      'by a path',
      'INVALID_REQUEST_BODY',
      error('X', 'Bad', { path: 'params.allowedEmbeds' }),
      ['params.allowedEmbeds'],
      'path',
    ],
    [
      'by a path in parts',
      'X',
      { errors: [{ loc: ['body', 'params', 'timezone'], msg: 'clientId' }] },
      ['params.timezone'],
      'path',
    ],
    ['by a pointer', 'X', { detail: 'no', pointer: '/params/accessPermissions' }, ['params.accessPermissions'], 'path'],
    [
      'by a word of its message',
      'X',
      error('X', '"params.allowedEmbeds" is not allowed'),
      ['params.allowedEmbeds'],
      'message',
    ],
    [
      'in words of its own',
      'X',
      error('X', 'Unknown option time, access permission given'),
      ['params.accessPermissions'],
      'message',
    ],
    ['in snake case', 'X', { message: 'unknown key allowed_embeds' }, ['params.allowedEmbeds'], 'message'],
    ['as a member', 'X', { errors: { timezone: ['not supported'] } }, ['params.timezone'], 'message'],
    [
      'by a code of its own',
      'TIMEZONE_NOT_SUPPORTED',
      error('TIMEZONE_NOT_SUPPORTED', 'no'),
      ['params.timezone'],
      'message',
    ],
    ['of the ten permissions', 'X', error('X', 'isShowSideBar: unknown'), ['permissions.isShowSideBar'], 'message'],
    [
      'that ends like another',
      'X',
      error('X', 'Invalid dashboard Id: 7 in dashboard appFilter'),
      ['params.dashboardAppFilters'],
      'message',
    ],
    ['that is a part of another', 'X', error('X', 'no such filter in appFilters'), ['params.appFilters'], 'message'],
    [
      'of several',
      'X',
      error('X', 'appFilters and rlsSettings exclude each other'),
      ['params.rlsSettings', 'params.appFilters'],
      'message',
    ],
    [
      "by the interface's code",
      'RLS_SETTINGS_PARAM_ERROR',
      error('RLS_SETTINGS_PARAM_ERROR', 'no'),
      ['params.rlsSettings'],
      'code',
    ],
    [
      "by the interface's code that is about one of several",
      'APP_FILTER_PARAM_ERROR',
      error('APP_FILTER_PARAM_ERROR', 'no'),
      ['params.appFilters', 'params.dashboardAppFilters'],
      'code',
    ],
  ])('the refused field in an answer is found %s', (_, code, body, refusedFields, namedBy) => {
    expect(fieldsIn(code, body)).toEqual({ refusedFields, namedBy });
  });

  it.each<[string, unknown]>([
    ['it names none', error('INVALID_REQUEST_BODY', 'The body is not valid')],
    ['it names one that was not sent', error('X', 'datamartName is unknown')],
    ['it is no object', 'nope'],
    ['it is nothing', undefined],
  ])('is one of the fields sent if %s', (_, body) => {
    expect(fieldsIn('INVALID_REQUEST_BODY', body)).toEqual({ sentFields });
  });

  it('is found in an answer of any size and depth', () => {
    let deep: unknown = 'params.timezone';
    for (let level = 0; level < 5_000; level += 1) deep = [deep];
    const wide = Array.from({ length: 50_000 }, (_, index) => `text ${index}`);
    for (const body of [deep, wide, 'a'.repeat(1_000_000)]) {
      expect(fieldsIn('X', body)).toHaveProperty('sentFields');
    }
  });
});

describe("another product's service that refuses a field", () => {
  const policy = policyOf({
    rules: [{ name: 'all', when: 'true', grant: { templates: ['delays'], timezone: '"Europe/Paris"' } }],
    restrictions: [{ name: 'r', when: 'true', restrict: { rls: { state: 'user.claims.region' } } }],
  });
  const start = async () => {
    const { upstream: service, url } = await startScriptedService();
    const clock = createMovableClock();
    const { log, lines } = captureLog();
    const upstream = createHttpUpstream({
      baseUrl: url,
      apiKey: 'the-api-key',
      settings: usualUpstream,
      clock,
      log,
    });
    return { ...(await startGateway({ upstream, clock, log, policy })), lines, service };
  };
  const secret = 'value-that-restricts';

  it.each<[string, number, unknown, string, string]>([
    [
      'allowedEmbeds',
      400,
      error('INVALID_REQUEST_BODY', 'Unrecognized key "allowedEmbeds"'),
      'INVALID_REQUEST_BODY',
      'params.allowedEmbeds',
    ],
    [
      'timezone',
      422,
      { detail: [{ loc: ['params', 'timezone'], msg: `got ${secret}` }] },
      'UNKNOWN',
      'params.timezone',
    ],
    [
      'rlsSettings',
      400,
      error('RLS_SETTINGS_PARAM_ERROR', `no value ${secret} of state`),
      'RLS_SETTINGS_PARAM_ERROR',
      'params.rlsSettings',
    ],
    [
      'a code that is a sentence',
      400,
      error(`no ${secret} here`, 'userIdentifier'),
      'UNKNOWN',
      'params.userIdentifier',
    ],
  ])(
    "%s: a clear refusal; the log has the field's name, never its value, and there is no second try",
    async (_, status, body, code, field) => {
      const { refused, granted, service, lines } = await start();
      service.state.intercept = ({ path }) => (path.endsWith('guest-token/create') ? { status, body } : undefined);
      const answer = await refused({ ...regional, region: secret });
      expect(answer).toMatchObject({
        status: 403,
        code: 'POLICY_UNDECIDED',
        message: expect.stringMatching(/Reference: \S+$/),
      });
      expect(answer.headers.get('retry-after')).toBeNull();
      expect(lines.find(({ msg }) => msg === 'embed token')).toMatchObject({
        reason: 'mint-field-refused',
        upstream: { status, code, refusedFields: [field] },
      });
      expect(service.mints()).toHaveLength(1);
      for (const text of [JSON.stringify(lines), answer.message]) expect(text).not.toContain(secret);
      service.state.intercept = () => undefined;
      await granted({ ...regional, region: secret });
      expect(service.lastMint()).toMatchObject({
        params: {
          allowedEmbeds: ['delays--SFO'],
          timezone: 'Europe/Paris',
          rlsSettings: [{ values: { state: secret } }, {}],
        },
      });
    },
  );

  it('without naming it: the log has every name that was sent', async () => {
    const { refused, service, lines } = await start();
    service.state.intercept = ({ path }) =>
      path.endsWith('guest-token/create') ? service.refusal(400, 'INVALID_REQUEST_BODY') : undefined;
    expect(await refused(regional)).toMatchObject({ status: 403, code: 'POLICY_UNDECIDED' });
    const line = lines.find(({ msg }) => msg === 'embed token');
    expect(line).toMatchObject({ upstream: { code: 'INVALID_REQUEST_BODY', status: 400 } });
    expect(Object(line?.upstream).sentFields).toEqual(
      expect.arrayContaining([
        'clientId',
        'dataAppName',
        'params.allowedEmbeds',
        'params.rlsSettings',
        'params.timezone',
        'expiryTime',
      ]),
    );
  });

  it.each([
    ['the API key', 401, error('AUTHENTICATION_ERROR', 'API key is invalid or expired')],
    ['the path', 404, error('NOT_FOUND', 'no such path')],
    ['the set-up', 400, error('WORKSPACE_ID_ERROR', 'no workspace')],
    ['with a page of a proxy', 400, '<h1>Bad Request</h1>'],
    ['and fails', 500, error('INTERNAL_SERVER_ERROR', `no plan for ${secret}`)],
  ])('is distinguished from one that refuses %s', async (_, status, body) => {
    const { refused, service, lines } = await start();
    service.state.intercept = ({ path }) => (path.endsWith('guest-token/create') ? { status, body } : undefined);
    expect(await refused({ ...regional, region: secret })).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE' });
    expect(service.mints()).toHaveLength(1);
    expect(lines.find(({ msg }) => msg === 'embed token')).toMatchObject({ upstream: { status } });
    expect(JSON.stringify(lines)).not.toContain(secret);
  });
});
