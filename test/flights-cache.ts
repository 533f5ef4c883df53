/**
 * Loads the demo's data once for all files of a run, since loading three million flights for each product would take
 * most of the run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const setup = async (): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-flights-'));
  process.env.GUESTLIST_TEST_FLIGHTS = join(folder, 'flights.duckdb');
  return () => rm(folder, { recursive: true, force: true });
};
