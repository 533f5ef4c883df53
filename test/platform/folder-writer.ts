/** A separate process that opens the database's folder, reports it, and writes data apps until it is killed. */
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openDatabase } from '../../src/platform/databases/database.js';
import { migrate } from '../../src/service/store/migrations.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { testSealer } from '../suites/sealer.js';

const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

const write = async (folder: string): Promise<never> => {
  const db = (await openDatabase({ databaseUrl: null, folder })).connect<Tables>();
  say('open');
  await migrate(db);
  const store = createStore(db, testSealer);
  for (;;) {
    const id = randomUUID();
    await store.dataApps.insert({ id, name: id, createdAt: new Date(0), updatedAt: new Date(0) });
    say(id);
  }
};

write(process.argv[2] ?? '').catch((error: Error) => {
  say(`${error.name}: ${error.message}`);
  process.exitCode = 1;
});
