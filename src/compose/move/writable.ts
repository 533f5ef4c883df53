/** Opens the metadata of an installation for a command that changes it and says so in the audit. */
import type { Kysely } from 'kysely';
import { appendWithin } from '../../gateway/audit/append.js';
import type { AuditEvent } from '../../gateway/audit/audit.js';
import { loadRefOf } from '../../gateway/ledger/ledger.js';
import { type LedgerTables, schemaName as ledgerSchema } from '../../gateway/ledger/tables.js';
import type { Config } from '../../platform/config/config.js';
import { loadCredentials } from '../../platform/config/credentials.js';
import { assertUsable, findMark } from '../../platform/databases/move/mark.js';
import { FolderInUse } from '../../platform/files/folder-lock.js';
import type { KeyRing } from '../../platform/keys/sealing.js';
import { assertKeyOpens } from '../../service/store/key-canary.js';
import type { Tables } from '../../service/store/tables.js';
import { type MetadataOptions, openingOf } from '../metadata.js';
import { sealedColumns } from '../reseal.js';
import { assertSourceThere, type End, type FoundPart, findParts, openEnd, placeIn, productParts } from './ends.js';

export type Configured = Pick<Config, 'settings' | 'secrets' | 'isDemo'>;
export type Surroundings = Pick<MetadataOptions, 'clock' | 'log'>;

/** An opened installation whose audit can be written, and the keys that its stored secrets have. */
export type WritableEnd = End & {
  readonly ring: KeyRing;
  /** Where the keys of the ring come from, for messages. */
  readonly keySource: string;
  readonly parts: readonly FoundPart[];
  readonly ledger: Kysely<LedgerTables>;
  readonly close: () => Promise<void>;
};

/**
 * Opens an installation of exactly this version. The embedded one must not be in use by a process. Throws WrongKey if its
 * secrets cannot be opened.
 */
export const openWritable = async (config: Configured, surroundings: Surroundings): Promise<WritableEnd> => {
  const place = placeIn(config);
  await assertSourceThere(place, true);
  const { keyRing: ring, keySource } = await loadCredentials(config.settings.dataDir, config.secrets);
  const end = await openEnd(place, true, { ...openingOf(config, ring), ...surroundings }).catch((cause: unknown) => {
    if (!(cause instanceof FolderInUse)) throw cause;
    throw new Error(
      'Guestlist is running on the embedded database, which one process alone can write: stop it for this command, which writes to the audit.',
      { cause },
    );
  });
  try {
    end.metadata.startMarking();
    assertUsable(end.name, await findMark(end.db));
    const parts = await findParts(end, productParts, 'Run this command of that version.');
    for (const { what, migrations, done } of parts)
      if (Object.keys(migrations).some((one) => !done.includes(one)))
        throw new Error(
          `The ${what} in ${end.name} has pending migrations: start this version once, then run this again.`,
        );
    if (parts.length < productParts.length)
      throw new Error(`${end.name} has no tenants: it holds the metadata of a gateway or of a service alone.`);
    await assertKeyOpens(end.metadata.database.connect<Tables>(), { ring, keySource, columns: sealedColumns });
    const ledger = end.metadata.database.connect<LedgerTables>().withSchema(ledgerSchema);
    return { ...end, ring, keySource, parts, ledger, close: end.metadata.database.close };
  } catch (error) {
    await end.metadata.database.close();
    throw error;
  }
};

/** Writes an entry to the audit. */
export const noteInAudit = async (
  { ledger }: Pick<WritableEnd, 'ledger'>,
  event: AuditEvent,
  at: Date,
): Promise<void> => {
  const refOf = await loadRefOf(ledger);
  await ledger.transaction().execute((db) => appendWithin(db, { refOf }, [{ at, event }]));
};
