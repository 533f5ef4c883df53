/** Themes of the service: that of a workspace, that of a client, and files with faults. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { embedOf, guest } from './guests.js';
import { type House, ok, openHouse } from './house.js';

const themeFile = (accent: string) => JSON.stringify({ color: { accent: { $type: 'color', $value: accent } } });

let folder: string;
let house: House;

const settings = (clients: string) => `themes: { folder: ${JSON.stringify(folder)}, clients: { ${clients} } }`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guestlist-themes-'));
  await writeFile(join(folder, 'brand.json'), themeFile('#123456'));
  await writeFile(join(folder, 'globex.json'), themeFile('#654321'));
  house = await openHouse(settings('globex: globex'));
});
afterAll(async () => {
  await house.close();
  await rm(folder, { recursive: true });
});

const themeOf = async (clientId: string, dashboardId: string) => {
  const bearer = await guest(house, clientId);
  return (await ok(house, 'getGuestDashboard', { dashboardId }, { bearer })).data.theme;
};

describe('the theme of a dashboard', () => {
  test('is that of its workspace by themeName, and a client’s own for that client only', async () => {
    const board = await embedOf(house, 'board');
    const globex = { name: 'globex', light: { '--gl-accent': '#654321' }, dark: {} };
    expect([await themeOf('acme', board), await themeOf('globex', board)]).toEqual([null, globex]);
    const input = { name: 'shop', connectionType: 'DATAMART', datamartName: 'shop' };
    await ok(house, 'updateWorkspace', { ...input, themeName: 'brand' });
    const brand = { name: 'brand', light: { '--gl-accent': '#123456' }, dark: {} };
    expect([await themeOf('acme', board), await themeOf('globex', board)]).toEqual([brand, globex]);
    await ok(house, 'updateWorkspace', { ...input, themeName: 'elsewhere' });
    expect(await themeOf('acme', board)).toEqual({ name: 'elsewhere' });
  });
});

test('a start with faulty themes fails with all faults, and names their files', async () => {
  await writeFile(
    join(folder, 'broken.json'),
    JSON.stringify({ color: { acent: { $value: '#fff' }, text: { $value: 'red' } } }),
  );
  await writeFile(join(folder, 'text.json'), 'no JSON');
  const message = await openHouse(settings('acme: nowhere')).then(
    () => 'started',
    (error: unknown) => String(error),
  );
  for (const part of [
    'broken.json: broken: color.acent: there is no such token',
    'color.text: takes a colour',
    'text.json: text: is no JSON file',
    'themes.clients: acme: there is no theme "nowhere"',
  ])
    expect(message).toContain(part);
});
