import { expect, test } from 'vitest';
import { html } from '../../../src/model/html.js';
import { createOpenApi } from '../../../src/platform/http/interface/openapi.js';
import type { Operation } from '../../../src/platform/http/interface/operation.js';
import { renderReference } from '../../../src/platform/http/pages/docs.js';
import { operationAddress } from '../../../src/platform/http/pages/docs-addresses.js';
import { docsStyle } from '../../../src/platform/http/pages/docs-style.js';
import { slug } from '../../../src/platform/http/wire/html.js';
import { operations } from '../../../src/service/operations.js';
import { document } from './sample.js';

const pages = renderReference(document);
const page = [...pages.values()].join('');
const textOf = (created: typeof document) => [...renderReference(created).values()].join('');

test('lists every operation with all its paths and error codes', () => {
  const text = page.replaceAll(/<wbr>/g, '');
  for (const { bindings, errors, summary } of Object.values<Operation>(operations)) {
    expect(text).toContain(html`${summary}`.text);
    for (const { path } of bindings) expect(text).toContain(path);
    for (const code of Object.keys(errors)) expect(text).toContain(code);
  }
});

test('the page of the interface lists nested fields', () => {
  const text = page.replaceAll(/<\/?i>/g, '');
  for (const field of [
    'params.hideDashboardMetrics[].metricIds',
    'params.accessPermissions.isAllowMetricFilterNameChange',
  ]) {
    expect(text).toContain(field);
  }
});

test('says how a body can be sent as a form, and which file it accepts', () => {
  const text = page.replaceAll(/<[^>]*>/g, '');
  expect(text.match(/multipart\/form-data/g)).toHaveLength(1);
  expect(text).toMatch(/multipart\/form-data, where accessSettings, metadata, .* are sent as JSON text/);
  expect(text).toMatch(
    /importDashboardDataFile\s*string\s*A JSON file. Its data becomes the value of importDashboardData/,
  );
});

test('describes types in words', () => {
  expect(page).toContain('string or number or boolean');
  expect(page).not.toMatch(/>(any|undefined|\[object Object\])</);
});

test('has no script, no inline style and no foreign content', () => {
  expect(page).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:/i);
  expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
  expect(docsStyle).not.toMatch(/url\(|@import/);
});

test('has only links that work, and unique ids on each page', () => {
  const idsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  for (const [path, text] of pages) {
    expect(new Set(idsOf(text)).size, path).toBe(idsOf(text).length);
    for (const [, target = '', anchor] of text.matchAll(/href="((?:\/docs\/api)?[^"#]*)(?:#([^"]+))?"/g)) {
      if (target !== '' && !target.startsWith('/docs/api')) continue;
      const found = pages.get(target === '' ? path : target);
      expect(found, `${path}: ${target}`).toBeDefined();
      if (anchor !== undefined) expect(idsOf(found ?? ''), `${path}: ${target}`).toContain(anchor);
    }
  }
});

test('each page of the reference is smaller than 100 kB', () => {
  const large = [...pages].filter(([, text]) => Buffer.byteLength(text) >= 100_000).map(([path]) => path);
  expect(large).toEqual([]);
});

test('an address of the reference as one page leads to the operation, resource or object that it named', () => {
  const overview = pages.get('/docs/api') ?? '';
  for (const { name, resource } of Object.values<Operation>(operations))
    expect(overview).toContain(`<li id="${slug(name)}"><a href="${operationAddress({ resource, name })}">`);
  for (const { name } of document.tags)
    expect(overview).toContain(`<h2 id="tag-${slug(name)}"><a href="/docs/api/${slug(name)}">`);
  for (const name of Object.keys(document.components.schemas))
    expect(overview).toContain(`<li id="schema-${slug(name)}"><a href="/docs/api/objects/${slug(name)}">`);
});

test('escapes everything in the document', () => {
  const evil = '<img src=x onerror=alert(1)>"\'&`<b>`';
  const { createDataApp } = operations;
  const page = textOf(
    createOpenApi(
      {
        createDataApp: {
          ...createDataApp,
          summary: evil,
          description: evil,
          example: { input: { name: evil }, output: { name: evil } },
        },
      },
      { version: evil },
    ),
  );
  expect(page).not.toMatch(/<img|<b>/);
  expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;');
});

test('a curl example is valid if its body contains a quote', () => {
  const { createDataApp } = operations;
  const named = { ...createDataApp, example: { input: { name: "O'Hare" }, output: { name: 'x' } } };
  expect(textOf(createOpenApi({ createDataApp: named }, { version: '1' }))).toContain('O&#39;\\&#39;&#39;Hare');
});
