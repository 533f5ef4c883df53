/** The demo's data, three million flights, which the first test that needs them loads for all others of the run. */
import { link, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ensureFlightsData } from '../../src/demo/flights-data.js';
import { madeOnce } from './run-folder.js';

/** Returns the path of the file. Only read it. */
export const flightsFile = (): Promise<string> => madeOnce('flights.duckdb', ensureFlightsData);

/** Puts the flights at `path`, as a link to the file that all tests share: the product only reads it. */
export const placeFlights = async (path: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await link(await flightsFile(), path);
};
