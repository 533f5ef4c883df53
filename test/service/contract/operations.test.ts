import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/platform/http/interface/fields.js';
import type { Operation } from '../../../src/platform/http/interface/operation.js';
import { operations } from '../../../src/service/operations.js';
import { inlined, inputFields, places } from './json-fields.js';
import { specification } from './specification.js';

const all: readonly Operation[] = Object.values(operations);
const byName = new Map(all.map((operation) => [operation.name, operation]));
const words = (text: string): readonly string[] => text.trim().split(/\s+/).toSorted();

describe.each(Object.entries(specification))('%s', (name, expected) => {
  const operation = byName.get(name);
  if (operation === undefined) throw new Error(`${name} is not declared`);

  test('has its section and credentials', () => {
    expect(operation.section).toBe(expected.section);
    expect([...operation.credentials].toSorted()).toEqual([...expected.credentials].toSorted());
  });

  test('has the paths of the specification, the legacy ones included', () => {
    const bindings = operation.bindings.map(({ method, path, isLegacy, when }) =>
      [method, path, isLegacy ? 'legacy' : '', when ? 'if' : ''].filter(Boolean).join(' '),
    );
    expect(bindings.toSorted()).toEqual([...expected.bindings].toSorted());
    expect(operation.bindings[0]?.isLegacy).not.toBe(true);
  });

  test('takes the fields of its table, and no other', () => {
    // This project defines the inside of an export and the kinds of filter values.
    const fields = inputFields(operation.input).filter((field) => !field.startsWith('importDashboardData.'));
    expect(fields).toEqual(words(`${expected.fields} ${expected.additions ?? ''}`));
  });

  test('answers its errors with their statuses', () => {
    expect(operation.errors).toMatchObject({
      ...expected.errors,
      INVALID_REQUEST_BODY: 400,
      RATE_LIMITED: 429,
      INTERNAL_SERVER_ERROR: 500,
    });
  });

  test('takes a file where the specification has one', () => {
    const files = operation.bindings.map(({ multipart }) => multipart?.file.part);
    expect(new Set(files)).toEqual(new Set([expected.multipartFile]));
  });
});

test('all sixteen sections are declared', () => {
  const sections = new Set(Object.values(specification).map(({ section }) => section));
  expect([...sections].toSorted((a, b) => Number(a) - Number(b))).toEqual(
    Array.from({ length: 16 }, (_, index) => String(index + 1)),
  );
});

test('each is declared under its own name, and no two unconditional bindings clash', () => {
  for (const [key, operation] of Object.entries(operations)) expect(operation.name).toBe(key);
  const plain = all.flatMap(({ bindings }) =>
    bindings.filter(({ when }) => when === undefined).map(({ method, path }) => `${method} ${path}`),
  );
  expect(plain.length).toBe(new Set(plain).size);
});

test('a path’s parameters are fields of the input', () => {
  for (const { name, input, bindings } of all) {
    const fields = inputFields(input).map((field) => field.replace('!', ''));
    for (const { path } of bindings) {
      for (const [, parameter] of path.matchAll(/\{(\w+)\}/g)) expect(fields, name).toContain(parameter);
    }
  }
});

test('every text, list and object of every input has a limit', () => {
  for (const { name, input, bindings } of all) {
    for (const schema of [input, ...bindings.flatMap((binding) => binding.input ?? [])]) {
      for (const { path, node } of places(inlined(schema))) {
        const where = `${name}${path}`;
        if (node.type === 'string' && node.enum === undefined && node.const === undefined) {
          const most = path.endsWith('.tiles[].source') ? limits.pictureLength : limits.sqlLength;
          expect(node.maxLength ?? Number.NaN, where).toBeLessThanOrEqual(most);
        }
        if (node.type === 'array') expect(node.maxItems ?? Number.NaN, where).toBeLessThanOrEqual(limits.filterValues);
        if (node.type === 'object' && node.propertyNames === undefined) {
          expect(node.additionalProperties, where).toBe(false);
        }
      }
    }
  }
});

test('an example is valid both ways, and every operation has one', () => {
  for (const { name, example, input, output } of Object.values<Operation>(operations)) {
    expect(example, name).toBeDefined();
    expect(input.safeParse(example?.input).error?.issues, name).toBeUndefined();
    expect(output.safeParse(example?.output).error?.issues, name).toBeUndefined();
  }
});

describe('bindings with a spelling of their own', () => {
  const list = operations.listDatamarts;
  const query = (index: number, value: unknown) => (list.bindings[index]?.input ?? list.input).safeParse(value);

  test('listDatamarts reads strings from the query and JSON from the legacy body', () => {
    const expected = { isPagination: true, pageNumber: 2, expandDetails: false };
    expect(query(0, { isPagination: 'true', pageNumber: '2', expandDetails: 'false' }).data).toEqual(expected);
    expect(query(2, expected).data).toEqual(expected);
    expect(query(2, { isPagination: 'true' }).success).toBe(false);
    expect(query(0, { isPagination: true }).success).toBe(false);
  });

  test('only the string true turns pagination on, and an unused page number is not looked at', () => {
    const off = { isPagination: false, pageNumber: 1, expandDetails: true };
    for (const isPagination of ['false', 'TRUE', '1', 'yes', '']) {
      expect(query(0, { isPagination, pageNumber: 'x' }).data).toEqual(off);
    }
    for (const pageNumber of ['0', '-1', '1.5', 'x', '', '99999999999']) {
      expect(query(0, { isPagination: 'true', pageNumber }).success).toBe(false);
    }
  });

  test('a POST to the embeds path deletes only where query and body name the same embed, and nothing else', () => {
    const when = operations.deleteEmbed.bindings.find(
      ({ method, path }) => method === 'POST' && path === '/api/v2/data-app/embeds',
    )?.when;
    const deletes = (embedId: unknown, body: unknown) => when?.({ query: { embedId }, body });
    expect(deletes('e', { embedId: 'e' })).toBe(true);
    expect(deletes('e', { embedId: 'f' })).toBe(false);
    expect(deletes('e', { embedId: 'e', name: 'x' })).toBe(false);
    expect(deletes(undefined, { embedId: 'e' })).toBe(false);
    expect(deletes(['e'], { embedId: ['e'] })).toBe(false);
    expect(deletes('e', undefined)).toBe(false);
    expect(deletes('e', null)).toBe(false);
  });
});

describe('rules between fields', () => {
  const { updateDatamart, createSemanticLayer, createWorkspace, updateWorkspaceDashboards } = operations;
  const dashboards = (...items: unknown[]) =>
    updateWorkspaceDashboards.input.safeParse({ workspaceName: 'w', dashboards: items }).success;

  test('TABLE tenancy wants its five fields', () => {
    const result = updateDatamart.input.safeParse({ datamartName: 'd', tenancySettings: { tenancyLevel: 'TABLE' } });
    expect(result.error?.issues.map(({ path }) => path.at(-1))).toEqual([
      'clientColumnType',
      'schemaName',
      'tableName',
      'tableClientNameColumn',
      'tablePrimaryKeyColumn',
    ]);
  });

  test('a custom column wants its sql; defaultSort is case-sensitive', () => {
    const column = (extra: object) =>
      updateDatamart.input.safeParse({
        datamartName: 'd',
        tableList: [{ name: 't', columns: [{ name: 'c', ...extra }] }],
      }).success;
    expect(column({ isCustomColumn: true })).toBe(false);
    expect(column({ isCustomColumn: true, sql: 'a + b' })).toBe(true);
    for (const defaultSort of ['ASC', 'DESC', '', null]) expect(column({ defaultSort })).toBe(true);
    expect(column({ defaultSort: 'asc' })).toBe(false);
  });

  test('a semantic layer needs tables or feedback', () => {
    expect(createSemanticLayer.input.safeParse({ datamartName: 'd' }).success).toBe(false);
    expect(createSemanticLayer.input.safeParse({ datamartName: 'd', feedback: 'x' }).success).toBe(true);
  });

  test('a workspace names the source of its connection type, and no other', () => {
    const works = (fields: object) => createWorkspace.input.safeParse({ name: 'w', ...fields }).success;
    expect(works({ connectionType: 'DATAMART', datamartName: 'd' })).toBe(true);
    expect(works({ connectionType: 'DATAMART' })).toBe(false);
    expect(works({ connectionType: 'MULTI_DATAMART', datamartName: 'd' })).toBe(false);
    expect(works({ connectionType: 'MULTI_DATASOURCE' })).toBe(true);
    expect(works({})).toBe(false);
  });

  test('a dashboard update names something, once, and not both ways', () => {
    const append = { dashboardId: 'd', appendMetrics: [{ metricId: 'm' }] };
    expect(dashboards(append)).toBe(true);
    expect(dashboards({ dashboardId: 'd' })).toBe(false);
    expect(dashboards(append, append)).toBe(false);
    expect(dashboards({ ...append, removedMetrics: ['m'] })).toBe(false);
    expect(dashboards({ dashboardId: 'd', removedMetrics: ['m', 'm'] })).toBe(false);
  });
});

test('a guest’s filter knows no SQL, a backend’s does', () => {
  const sql = { Date: { sql: 'SELECT 1', columnName: 'c' } };
  expect(operations.queryGuestMetric.input.safeParse({ metricId: 'm', dashboardFilter: sql }).success).toBe(false);
  const backend = { metricId: 'm', embedId: 'e', clientId: 'c', dashboardFilter: sql };
  expect(operations.queryMetric.input.safeParse(backend).success).toBe(true);
});

test('the fields that the specification calls invalid are refused', () => {
  const body = { clientId: 'LAX', dataAppName: 'flights' };
  const refused = [
    { dataAppId: 'a' },
    { client_id: 'a' },
    { tenant_id: 'a' },
    { permissions: { dashboards: [] } },
    { params: { allowedEmbeds: null } },
  ];
  expect(operations.createGuestToken.input.safeParse(body).success).toBe(true);
  for (const extra of refused)
    expect(operations.createGuestToken.input.safeParse({ ...body, ...extra }).success).toBe(false);
});
