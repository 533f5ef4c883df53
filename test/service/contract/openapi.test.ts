import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { createOpenApi } from '../../../src/platform/http/interface/openapi.js';
import type { Operation } from '../../../src/platform/http/interface/operation.js';
import { operations } from '../../../src/service/operations.js';

const document = createOpenApi(operations, { version: '1.2.3' });
const text = JSON.stringify(document);

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(JSON.parse(text));
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

test('a broken document is found invalid: the check can fail', async () => {
  const broken = { ...JSON.parse(text), paths: { 'no-slash': { get: {} } } };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test('the OpenAPI document holds exactly the operations with every binding', () => {
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => `${operation['x-operation']} ${method.toUpperCase()} ${path}`),
  );
  const all = Object.values<Operation>(operations).flatMap(({ name, bindings }) =>
    bindings.map(({ method, path, when }) => ({ name, key: `${method} ${path}`, isConditional: when !== undefined })),
  );
  // The document has one entry for each method and path: the binding without a condition.
  const plain = new Set(all.flatMap(({ key, isConditional }) => (isConditional ? [] : [key])));
  const expected = all.flatMap(({ name, key, isConditional }) =>
    isConditional && plain.has(key) ? [] : [`${name} ${key}`],
  );
  expect(documented.toSorted()).toEqual(expected.toSorted());
});

test('the OpenAPI document is the same text each time', () => {
  expect(JSON.stringify(createOpenApi(operations, { version: '1.2.3' }))).toBe(text);
});

test('operation ids are unique, and every reference leads somewhere', () => {
  const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const references = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');
  expect(references.length).toBeGreaterThan(5);
  for (const name of references) expect(document.components.schemas).toHaveProperty(name);
  expect(text).not.toContain('$defs');
});

test('legacy bindings are deprecated, and the others are not', () => {
  expect(document.paths['/api/v2/dataApp/embeds']?.post?.deprecated).toBe(true);
  expect(document.paths['/api/v2/data-app/embeds']?.post?.deprecated).toBeUndefined();
});

test('every error code is under its status', () => {
  const responses = document.paths['/api/v2/data-app/embeds']?.post?.responses ?? {};
  expect(Object.keys(responses)).toEqual(['200', '400', '401', '404', '429', '500', '503']);
  const codes = JSON.stringify(responses['404']?.content?.['application/json']?.schema);
  expect(codes).toContain('"enum":["INVALID_DASHBOARD_ID","INVALID_METRIC_ID"]');
});

test('a query binding shows its own spelling, a path parameter leaves the body', () => {
  const embeds = document.paths['/api/v2/data-app/embeds']?.get?.parameters;
  expect(embeds?.map(({ name, in: place, schema }) => [name, place, schema.type])).toEqual([
    ['isPagination', 'query', 'string'],
    ['pageNumber', 'query', 'string'],
    ['embedId', 'query', 'string'],
  ]);
  const query = document.paths['/api/v2/guest/metrics/{metricId}/query']?.post;
  expect(query?.parameters?.map(({ name }) => name)).toEqual(['metricId']);
  expect(query?.requestBody?.content['application/json']?.schema.properties).not.toHaveProperty('metricId');
});

test('a body that may be a form is in the document as one, with its file', () => {
  const content = document.paths['/api/v2/data-app/dashboard-embeds']?.post?.requestBody?.content;
  expect(Object.keys(content ?? {})).toEqual(['application/json', 'multipart/form-data']);
  const form = content?.['multipart/form-data'];
  expect(form?.schema.properties).toMatchObject({
    accessSettings: {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: { $ref: expect.any(String) },
    },
    isImportMetrics: { type: 'string', contentSchema: { type: 'boolean' } },
    dashboardId: { type: 'string' },
    importDashboardDataFile: { type: 'string', format: 'binary' },
  });
  expect(form?.encoding).toEqual({ importDashboardDataFile: { contentType: 'application/json' } });
  expect(form?.schema.required).toContain('accessSettings');
});

test('a record whose names are known is an object with these properties', () => {
  const schemas = JSON.stringify(document.components.schemas);
  expect(text).toContain('"propertyNames"');
  expect(`${text}${schemas}`).not.toMatch(/"propertyNames":\{[^}]*"enum"/);
});

test('credentials are named per operation', () => {
  expect(document.paths['/api/v2/workspace/metrics']?.post?.security).toEqual([{ apiKey: [] }, { serviceToken: [] }]);
});
