/** The users who opened dashboards lately: a session that nothing can be decided for must not hide the others. */
import { expect, test } from 'vitest';
import { analyst, regional, startGateway } from './harness.js';

type Viewers = { readonly viewers: readonly { readonly user: string; readonly clientId: string }[] };

test('a user whose session cannot be decided is left out, and hides nobody', async () => {
  const { granted, refused, run } = await startGateway();
  const read = async () => {
    const { viewers } = (await run('viewers-list', {})) as Viewers;
    return viewers.map(({ user, clientId }) => `${user} of ${clientId}`);
  };
  await granted(analyst);
  expect(await read()).toEqual(['ann of LAX']);
  const strange = { ...regional, sub: 'eve', region: 2 ** 60 };
  expect(await refused(strange)).toMatchObject({ code: 'INVALID_REQUEST_BODY' });
  await expect.poll(() => run('audit-search', { words: ['denial'] })).toMatchObject({ entries: [{ tenant: 'SFO' }] });
  expect(await read()).toEqual(['ann of LAX']);
});
