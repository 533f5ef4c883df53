/** What callers of a product hold, and whether it still counts after the metadata has gone elsewhere. */
import { expect } from 'vitest';
import { analyst, get, login, openDashboard, post } from './guest.js';
import { type Product, runToEnd } from './product.js';

/** What callers of the product have: a key, a guest token, and the dashboards that a tenant sees. */
export const issueAll = async (product: Product) => {
  const { url, credentials } = product;
  const listed = await get<{ data: { name: string }[] }>(`${url}/api/v2/data-app`, credentials.serviceToken);
  const dataAppName = listed.body.data.find(({ name }) => name !== 'bulk')?.name ?? '';
  const made = await post<{ key: string }>(
    `${url}/api/v2/data-app/api-tokens`,
    { dataAppName, name: 'before the move' },
    credentials.serviceToken,
  );
  const { token, embeds } = await login(product, analyst('LAX'));
  const boards = await Promise.all(embeds.map(({ id }) => openDashboard(product, token, id)));
  return { dataAppName, key: made.body.key, token, embeds, boards };
};

/** The key, the token and the dashboards are what they were, and the audit is whole. */
export const expectSame = async (product: Product, issued: Awaited<ReturnType<typeof issueAll>>) => {
  const { dataAppName, key, token, embeds, boards } = issued;
  const again = await login(product, analyst('LAX'));
  expect(again.embeds).toEqual(embeds);
  expect(await Promise.all(embeds.map(({ id }) => openDashboard(product, again.token, id)))).toEqual(boards);
  expect(await Promise.all(embeds.map(({ id }) => openDashboard(product, token, id)))).toEqual(boards);
  const minted = await post(`${product.url}/api/v2/guest-token/create`, { dataAppName, clientId: 'LAX' }, key);
  expect([minted.status, minted.text]).toEqual([200, minted.text]);
  const audit = await runToEnd(['audit', 'verify'], {
    GUESTLIST_DATA_DIR: product.dataDir,
    PORT: new URL(product.url).port,
  });
  expect([audit.code, audit.output]).toEqual([0, audit.output]);
};
