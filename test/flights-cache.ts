/** A place for the demo's data that all files of one run share: to load three million flights for each product takes most of a run. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const setup = async (): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-flights-'));
  process.env.GUESTLIST_TEST_FLIGHTS = join(folder, 'flights.duckdb');
  return () => rm(folder, { recursive: true, force: true });
};
