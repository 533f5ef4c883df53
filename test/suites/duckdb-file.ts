import { hash } from 'node:crypto';
import { constants, copyFile } from 'node:fs/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { madeOnce } from './run-folder.js';

/** Runs the statements on the DuckDB file at `path`, which is created if it is missing. */
export const runOnFile = async (path: string, statements: readonly string[]): Promise<void> => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
};

/** Creates the DuckDB file at `path`. A file of the same statements that a test of this run has built is copied. */
export const buildFile = async (path: string, statements: readonly string[]): Promise<void> => {
  const name = `${hash('sha256', JSON.stringify(statements), 'hex')}.duckdb`;
  const built = await madeOnce(name, (unfinished) => runOnFile(unfinished, statements));
  await copyFile(built, path, constants.COPYFILE_FICLONE);
};
