/**
 * The canary of the encryption key: one sealed row that every start opens, so that a wrong key is found before the
 * process serves. It holds the key of stored tags (digests of mail addresses, states of alerts, links in messages): these
 * cannot be opened and sealed again, so their key stays the same when the encryption key changes.
 */
import type { Kysely } from 'kysely';
import type { Sealed } from '../../model/brand.js';
import { tagKeyOf } from '../../platform/caches/tags.js';
import { findForeign, hasValues, type SealedColumn } from '../../platform/keys/reseal.js';
import { createSealer, type KeyRing, markOf, sealerMarkOf } from '../../platform/keys/sealing.js';
import { schemaName, type Tables } from './tables.js';

export const canaryContext = 'guestlist/canary';

/** The process has another key than the one that sealed the metadata. `message` says what to do. */
export class WrongKey extends Error {
  override readonly name = 'WrongKey';
}

type CanaryOptions = {
  readonly ring: KeyRing;
  /** Where the keys come from, for the message. */
  readonly keySource: string;
  /** All sealed columns: a first start with this version looks at them before it trusts its key. */
  readonly columns: readonly SealedColumn[];
  /** Whether an operator accepts that what another key sealed cannot be opened any more. */
  readonly acceptsLoss: boolean;
};

export type OpenedCanary = {
  readonly tagKey: Buffer;
  /** What cannot be opened any more, as an operator has accepted; null if nothing. */
  readonly loss: string | null;
};

/** What is needed to compare the key with that of the metadata. */
type KeyOptions = Omit<CanaryOptions, 'acceptsLoss'>;

const describe = ({ ring, keySource }: KeyOptions, by: string): string =>
  `The secrets in this database were sealed with the encryption key ${by}, which ${keySource} does not have (it has ${ring.map(markOf).join(', ')})`;

const wrongKey = (options: KeyOptions, by: string): WrongKey =>
  new WrongKey(
    `${describe(options, by)}. Set GUESTLIST_ENCRYPTION_KEY to the key of the other replicas, or to several with a comma between them, of which the first one seals. ` +
      'If the key is lost, start once with --accept-loss: credentials of datasources and recipients of reports must then be entered again.',
  );

const textOf = (key: Buffer): string => key.toString('base64');

const isOpened = (sealed: Sealed, ring: KeyRing): boolean => ring.some((key) => markOf(key) === sealerMarkOf(sealed));

/**
 * Opens the canary, and stores it if there is none. Throws WrongKey if no key of the ring sealed it, and an Error if it
 * was changed.
 */
export const openCanary = async (connected: Kysely<Tables>, options: CanaryOptions): Promise<OpenedCanary> => {
  const db = connected.withSchema(schemaName);
  const { ring, columns, acceptsLoss } = options;
  const [first] = ring;
  const sealer = createSealer(...ring);
  const find = () => db.selectFrom('sealing_canary').select('sealed').executeTakeFirst();
  const insert = async (): Promise<Sealed> => {
    const sealed = sealer.seal(textOf(tagKeyOf(first)), canaryContext);
    await db
      .insertInto('sealing_canary')
      .values({ sealed })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await find())?.sealed ?? sealed;
  };
  const found = (await find())?.sealed;
  const foreign = found ?? (await findForeign(db as unknown as Kysely<unknown>, columns, ring));
  let loss: string | null = null;
  if (foreign !== undefined && !isOpened(foreign, ring)) {
    const by = sealerMarkOf(foreign);
    if (!acceptsLoss) throw wrongKey(options, by);
    loss = describe(options, by);
    await db.deleteFrom('sealing_canary').where('sealed', '=', foreign).execute();
  }
  const sealed = loss === null && found !== undefined ? found : await insert();
  if (!isOpened(sealed, ring)) throw wrongKey(options, sealerMarkOf(sealed));
  return { tagKey: Buffer.from(sealer.open(sealed, canaryContext), 'base64'), loss };
};

/**
 * Throws WrongKey if no key of the ring sealed the canary, or some other value where there is no canary. Writes nothing,
 * and needs no table.
 */
export const assertKeyOpens = async (connected: Kysely<Tables>, options: KeyOptions): Promise<void> => {
  const db = connected as unknown as Kysely<unknown>;
  const isCanary = ({ schema, table }: SealedColumn): boolean => schema === schemaName && table === 'sealing_canary';
  const canaries = options.columns.filter(isCanary);
  const foreign = await findForeign(db, canaries, options.ring);
  const isSealedByRing = foreign === undefined && (await hasValues(db, canaries));
  const found = foreign ?? (isSealedByRing ? undefined : await findForeign(db, options.columns, options.ring));
  if (found !== undefined) throw wrongKey(options, sealerMarkOf(found));
};
