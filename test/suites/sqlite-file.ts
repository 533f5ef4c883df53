import Database from 'libsql';

/** Runs the statements on the SQLite file at `path`, which is created if it is missing. */
export const runOnSqlite = async (path: string, statements: readonly string[]): Promise<void> => {
  const database = new Database(path);
  try {
    for (const statement of statements) database.exec(statement);
  } finally {
    database.close();
  }
};

/** Runs one statement and returns its rows. */
export const readSqlite = (path: string, statement: string): readonly unknown[] => {
  const database = new Database(path);
  try {
    return database.prepare(statement).raw().safeIntegers().all();
  } finally {
    database.close();
  }
};
