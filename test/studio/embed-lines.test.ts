/** The lines for a page of the host hold its own origin, its issuer and this installation's addresses. */
import { expect, test } from 'vitest';
import { type Lines, linesOf, pageKinds } from '../../src/web/studio/base/embed-lines.js';

const given: Omit<Lines, 'kind'> = {
  dashboard: 'delays',
  origin: 'https://data.example.com',
  serviceUrl: 'https://service.example.com',
  page: 'https://app.example.com',
  issuer: 'https://login.example.com',
  cookieName: null,
};

test.each(pageKinds)('%s: a page that holds its session asks with it, and a cookie is named', (kind) => {
  const byToken = linesOf({ ...given, kind });
  for (const part of ['"delays"', 'https://data.example.com/embed-token', given.page, given.issuer ?? ''])
    expect(byToken).toContain(part);
  expect(byToken).toMatch(/Bearer \$\{await yourSession\(\)\}/);
  const byCookie = linesOf({ ...given, kind, cookieName: 'sid' });
  expect(byCookie).toContain('The cookie sid is a session signed by https://login.example.com');
  expect(byCookie).toMatch(/token-?url="https:\/\/data.example.com\/embed-token"/i);
  expect(byCookie).not.toContain('yourSession');
  if (kind !== 'HTML') expect(byToken).toContain('https://service.example.com');
  expect(byToken.split('\n').length).toBeLessThanOrEqual(18);
});

test('what the configuration says does not end a comment', () => {
  const hostile = { ...given, page: 'https://a*/alert(1)//', issuer: '--><script>alert(1)</script>\nalert(2)' };
  const html = linesOf({ ...hostile, kind: 'HTML' });
  expect(html.split('-->').length).toBe(2);
  expect(html.match(/<script/g)?.length).toBe(2);
  for (const kind of ['React', 'Next', 'Vue'] as const)
    expect(
      linesOf({ ...hostile, kind })
        .split('\n')
        .some((line) => line.startsWith('alert')),
    ).toBe(false);
});
