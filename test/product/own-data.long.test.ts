/** Runs docs/tutorials/own-data.sh exactly as printed: from a database file to a tenant's first numbers. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { analyst, ask, login, openTruth } from './guest.js';
import { startProduct } from './product.js';

const script = fileURLToPath(new URL('../../docs/tutorials/own-data.sh', import.meta.url));

test('docs/tutorials/own-data.sh makes all that a tenant needs, and ends with its rows', async () => {
  const [product, truth] = await Promise.all([startProduct(), openTruth()]);
  try {
    // After the demo's first answer, its flights file exists, which the script reads.
    const { token, embeds } = await login(product, analyst('LAX'));
    await ask(product, token, embeds[0]?.id ?? '', 'Flights a day');
    const env = { ...process.env, GUESTLIST_URL: product.url, GUESTLIST_DATA_DIR: product.dataDir };
    const { stdout } = await promisify(execFile)('bash', [script], { env });
    const [answer = ''] = stdout.trim().split('\n').slice(-1);
    const rows = await truth.rows(
      "SELECT a.state, count(*) FROM flights f LEFT JOIN airports a ON f.destination = a.iata WHERE f.origin = 'LAX' GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
    );
    expect(
      JSON.parse(answer).data.map(({ State, Flights }: { State: string; Flights: number }) => [State, Flights]),
    ).toEqual(rows);
  } finally {
    truth.close();
    await product.stop();
    await product.remove();
  }
});
