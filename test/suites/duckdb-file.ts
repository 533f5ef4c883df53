import { DuckDBInstance } from '@duckdb/node-api';

/** Runs the statements on the DuckDB file at `path`, which is created if it is missing. */
export const runOnFile = async (path: string, statements: readonly string[]): Promise<void> => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
};
