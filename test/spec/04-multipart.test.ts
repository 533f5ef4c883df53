/** Section 4 of the interface as a form (multipart/form-data) with a file, and invalid forms. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../product/guest.js';
import { type House, mint, ok, openHouse, settings } from './house.js';
import { definition } from './organization.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const path = '/api/v2/data-app/dashboard-embeds';
const exported = (metricId = 'm1') => ({
  layout: [{ metricId, x: 1, y: 2, w: 3, h: 4 }],
  filters: [],
  metrics: [{ metricId, name: `Name ${metricId}`, definition: definition() }],
  gridMargin: [1, 2],
});
const upload = (content: unknown, name = 'export.json', type = 'application/json') =>
  new File([typeof content === 'string' ? content : JSON.stringify(content)], name, { type });

type Value = string | File;
const formOf = (dashboardId: string, parts: Readonly<Record<string, Value>> = {}) => {
  const form = new FormData();
  const required = { dashboardId, workspaceName: 'shop', clientId: 'acme', accessSettings: JSON.stringify(settings) };
  for (const [name, value] of Object.entries({ ...required, ...parts })) form.append(name, value);
  return form;
};
const send = (body: FormData | string | Uint8Array<ArrayBuffer>, contentType?: string, to = path) =>
  request<{ error?: { code: string; message: string } | null }>(`${house.url()}${to}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${house.apiKey}`,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    body,
  });
const refusal = async (...args: Parameters<typeof send>) => {
  const { status, body } = await send(...args);
  return [status, body.error?.code, body.error?.message ?? ''] as const;
};
const seen = async (dashboardId: string) => {
  const bearer = await mint(house, 'acme', { allowedEmbeds: [dashboardId] });
  return (await ok(house, 'getGuestDashboard', { dashboardId }, { bearer })).data;
};

describe('object/boolean/array fields are sent as JSON strings and parsed before validation', () => {
  test('accessSettings, metadata, importDashboardData, isImportMetrics, isRenameDashboard, schemaPairs', async () => {
    const form = formOf('all-parts', {
      metadata: JSON.stringify({ plan: 'pro' }),
      importDashboardData: JSON.stringify(exported()),
      isImportMetrics: 'true',
      isRenameDashboard: 'true',
      isAllowPrivateMetricsByDefault: 'false',
      schemaPairs: JSON.stringify([{ replaceSchema: 'x', targetSchema: 'main' }]),
      name: 'true',
      embedDescription: 'Zahlen für Österreich',
    });
    const answer = await send(form);
    expect([answer.status, answer.body]).toEqual([200, { id: 'all-parts', error: null, name: 'true' }]);
    expect(await seen('all-parts')).toMatchObject({ name: 'true', metrics: [{ name: 'Name m1' }] });
    const { data } = await ok(house, 'listEmbeds', { embedId: 'all-parts' });
    expect(data[0]?.externalDashboard?.metadata).toEqual({ plan: 'pro' });
  });

  test.each(['/api/v2/dataApp/dashboard-embeds', '/api/v2/dataApp/dashboardEmbed/create'])(
    'the same works on %s',
    async (to) => {
      const answer = await send(formOf(`form-${to.length}`), undefined, to);
      expect([answer.status, answer.body]).toEqual([200, { id: `form-${to.length}`, error: null }]);
    },
  );

  test('values that are not JSON are all named at once', async () => {
    const form = formOf('broken', { accessSettings: '{', isImportMetrics: 'yes', schemaPairs: '' });
    const [status, code, message] = await refusal(form);
    expect([status, code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    for (const name of ['accessSettings', 'isImportMetrics', 'schemaPairs']) expect(message).toContain(`${name}: `);
  });

  test('JSON of another type is validated like a JSON body', async () => {
    expect(await refusal(formOf('kind', { isRenameDashboard: '"true"' }))).toEqual([
      400,
      'INVALID_REQUEST_BODY',
      'isRenameDashboard: got string "true", expected a boolean.',
    ]);
  });

  test('a part that is not a field of the operation: INVALID_REQUEST_BODY', async () => {
    for (const name of ['client_id', '__proto__', 'constructor']) {
      const form = formOf('unknown-part');
      form.append(name, '{"polluted": true}');
      const [status, code, message] = await refusal(form);
      expect([status, code]).toEqual([400, 'INVALID_REQUEST_BODY']);
      expect(message).toContain(name);
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('importDashboardDataFile: .json, MIME application/json, top-level data object', () => {
  test('is imported, with or without _meta', async () => {
    await send(formOf('from-file', { importDashboardDataFile: upload({ data: exported('in-file') }) }));
    const envelope = { _meta: { version: 1, dashboardId: 'x', name: 'X' }, data: exported('in-envelope') };
    await send(formOf('from-envelope', { importDashboardDataFile: upload(envelope, 'E.JSON') }));
    expect((await seen('from-file')).metrics).toMatchObject([{ name: 'Name in-file' }]);
    expect((await seen('from-envelope')).metrics).toMatchObject([{ name: 'Name in-envelope' }]);
  });

  test('takes precedence over importDashboardData and over the template’s metrics', async () => {
    const parts = {
      importDashboardDataFile: upload({ data: exported('of-file') }),
      templateDashboardId: 'board',
      isImportMetrics: 'true',
      metricImportMode: 'GALLERY',
    };
    await send(formOf('file-wins', { ...parts, importDashboardData: JSON.stringify(exported('of-field')) }));
    expect((await seen('file-wins')).metrics).toMatchObject([{ name: 'Name of-file' }]);
    expect((await seen('file-wins')).layout).toHaveLength(1);
  });

  test.each([
    ['without data', {}],
    ['whose data is a list', { data: [] }],
    ['whose data is text', { data: '{}' }],
    ['that is a bare data object', exported()],
    ['that is a list', [1]],
    ['that is null', 'null'],
    ['that is not JSON', '{"data": '],
    ['that is empty', ''],
  ])('uploaded JSON %s: INVALID_DASHBOARD_DATA', async (_, content) => {
    const [status, code, message] = await refusal(formOf('no-data', { importDashboardDataFile: upload(content) }));
    expect([status, code]).toEqual([400, 'INVALID_DASHBOARD_DATA']);
    expect(message).toContain('importDashboardDataFile');
  });

  test.each([
    ['another name', upload({ data: exported() }, 'export.txt')],
    ['another type', upload({ data: exported() }, 'export.json', 'text/plain')],
    ['text instead of a file', JSON.stringify({ data: exported() })],
  ])(
    'an uploaded file that is no export is refused with INVALID_REQUEST_BODY: %s',
    async (_, importDashboardDataFile) => {
      expect((await refusal(formOf('no-file', { importDashboardDataFile }))).slice(0, 2)).toEqual([
        400,
        'INVALID_REQUEST_BODY',
      ]);
    },
  );

  test('a file under another name, and a second file: INVALID_REQUEST_BODY', async () => {
    expect((await refusal(formOf('other-file', { metadata: upload({ data: exported() }) })))[2]).toContain('metadata');
    const form = formOf('two-files', { importDashboardDataFile: upload({ data: exported() }) });
    form.append('importDashboardDataFile', upload({ data: exported() }));
    expect((await refusal(form))[2]).toContain('more than once');
  });
});

describe('invalid forms: 400 INVALID_REQUEST_BODY, at once', () => {
  const part = (name: string, value: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const bounded = 'multipart/form-data; boundary=B';
  const whole = `--B\r\n${part('dashboardId', 'x')}--B--\r\n`;
  test.each([
    ['no boundary in the type', whole, 'multipart/form-data'],
    ['another boundary than the type’s', whole.replaceAll('--B', '--C'), bounded],
    ['an empty boundary', whole, 'multipart/form-data; boundary='],
    ['garbage', 'garbage', bounded],
    ['nothing', '', bounded],
    ['no closing boundary', whole.slice(0, -6), bounded],
    ['an end in the middle of a header', '--B\r\nContent-Dispo', bounded],
    ['a part without a name', '--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--\r\n', bounded],
    ['a part without a disposition', '--B\r\nX-Y: z\r\n\r\nx\r\n--B--\r\n', bounded],
    [
      '10,000 parts',
      `--B\r\n${Array.from({ length: 10_000 }, (_, i) => part(`p${i}`, '1')).join('--B\r\n')}--B--\r\n`,
      bounded,
    ],
    ['one part 10,000 times', `${`--B\r\n${part('dashboardId', 'x')}`.repeat(10_000)}--B--\r\n`, bounded],
    ['a name of a million characters', `--B\r\n${part('n'.repeat(1_000_000), 'x')}--B--\r\n`, bounded],
    ['deep JSON', `--B\r\n${part('metadata', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)}--B--\r\n`, bounded],
  ])('an invalid form is refused at once with INVALID_REQUEST_BODY: %s', async (_, body, contentType) => {
    expect((await refusal(body, contentType)).slice(0, 2)).toEqual([400, 'INVALID_REQUEST_BODY']);
  });

  test('a form that is cut anywhere gets no 500 and does not hang', async () => {
    const text = `--B\r\n${part('dashboardId', 'cut')}--B\r\n${part('accessSettings', '{}')}--B--\r\n`;
    for (let length = 0; length < text.length; length += 7)
      expect((await refusal(text.slice(0, length), bounded))[0]).toBe(400);
  });

  test('bytes that are not text', async () => {
    expect(
      (
        await refusal(
          Uint8Array.from({ length: 5000 }, (_, i) => (i * 7) % 256),
          bounded,
        )
      )[0],
    ).toBe(400);
  });

  test('a form larger than the maximum body: 413', async () => {
    expect((await refusal(formOf('large', { embedDescription: 'x'.repeat(2_200_000) }))).slice(0, 2)).toEqual([
      413,
      'INVALID_REQUEST_BODY',
    ]);
  });

  test('other operations accept no form', async () => {
    const form = new FormData();
    form.append('embedId', 'x');
    const [status, code, message] = await refusal(form, undefined, '/api/v2/data-app/embeds');
    expect([status, code]).toEqual([400, 'INVALID_REQUEST_BODY']);
    expect(message).toContain('application/json');
  });

  test('the caller is authenticated first: without a key INVALID_DATA_APP_API_KEY', async () => {
    const answer = await request(`${house.url()}${path}`, {
      method: 'POST',
      headers: { 'content-type': bounded },
      body: 'garbage',
    });
    expect([answer.status, answer.body]).toMatchObject([401, { error: { code: 'INVALID_DATA_APP_API_KEY' } }]);
  });
});
