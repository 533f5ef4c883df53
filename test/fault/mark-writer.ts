/**
 * A separate process that writes audit entries to an embedded database, with the high-water mark, until it is killed.
 */
import { writeSync } from 'node:fs';
import pino from 'pino';
import { openMetadata } from '../../src/compose/metadata.js';
import { appendEvents } from '../../src/gateway/audit/append.js';
import { type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { systemClock } from '../../src/platform/work/time.js';

const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

const write = async (folder: string): Promise<never> => {
  const log = pino({ level: 'silent' });
  const options = {
    databaseUrl: null,
    folder,
    isFlushed: false,
    markKey: null,
    clock: systemClock,
    acceptsLoss: false,
    log,
  };
  const { database, startMarking } = await openMetadata(options);
  const ledger = await openLedger(database.connect<LedgerTables>(), false);
  startMarking();
  for (;;) {
    const { seq } = await appendEvents(ledger, [{ at: new Date(), event: { kind: 'policy-load', code: 'OK' } }]);
    say(String(seq));
  }
};

write(process.argv[2] ?? '').catch((error: Error) => {
  say(`${error.name}: ${error.message}`);
  process.exitCode = 1;
});
