/** Says what a sweep of the configured installation would delete. Reads the metadata, and changes nothing. */
import type { Kysely } from 'kysely';
import { schemaName as ledgerSchema } from '../../gateway/ledger/tables.js';
import { ledgerRows } from '../../gateway/retention/kinds.js';
import type { DueRows } from '../../model/retention.js';
import type { Config } from '../../platform/config/config.js';
import { countKinds, findSweptAt, type KindRows } from '../../platform/databases/aged-rows.js';
import { listDone } from '../../platform/databases/migrate.js';
import { serviceRows } from '../../service/store/retention.js';
import { schemaName as serviceSchema } from '../../service/store/tables.js';
import type { MetadataOptions } from '../metadata.js';
import { openSource } from '../move/backup.js';
import { assertSourceThere, placeIn, productParts } from '../move/ends.js';

export type CountedHalf = {
  readonly half: 'gateway' | 'service';
  readonly sweptAt: string;
  readonly kinds: readonly DueRows[];
};

type Half = { readonly half: CountedHalf['half']; readonly schema: string; readonly kinds: readonly KindRows[] };

const halvesOf = (config: Config, service: boolean): readonly Half[] => {
  const { retention, usage } = config.settings;
  const { sessionDays: sessionsDays } = config.settings.mail;
  return [
    { half: 'gateway', schema: ledgerSchema, kinds: ledgerRows({ ...retention, sessionsDays }) },
    ...(service
      ? [{ half: 'service', schema: serviceSchema, kinds: serviceRows({ ...retention, ...usage }) } as const]
      : []),
  ];
};

/** Null: this database has nothing of this half. Throws if its tables are of another version. */
const countHalf = async (
  db: Kysely<unknown>,
  { half, schema, kinds }: Half,
  now: Date,
): Promise<CountedHalf | null> => {
  const done = await listDone(db, schema);
  if (done.length === 0) return null;
  const migrations = productParts.find((part) => part.schema === schema)?.migrations ?? {};
  if (Object.keys(migrations).some((name) => !done.includes(name)))
    throw new Error(`The tables of the ${half} are of an earlier version: start this version once.`);
  return { half, sweptAt: (await findSweptAt(db, schema)).toISOString(), kinds: await countKinds(db, kinds, now) };
};

/** `service`: whether this process would run the service too. */
export const countRetained = async (
  config: Config,
  { service, say }: { readonly service: boolean; readonly say: (text: string) => void },
  { clock, log }: Pick<MetadataOptions, 'clock' | 'log'>,
): Promise<readonly CountedHalf[]> => {
  say('counting what is old enough');
  await assertSourceThere(placeIn(config), service);
  const source = await openSource(config, placeIn(config), service, { clock, log });
  try {
    const counted: (CountedHalf | null)[] = [];
    for (const half of halvesOf(config, service)) counted.push(await countHalf(source.db, half, clock.now()));
    return counted.filter((one) => one !== null);
  } finally {
    await source.close();
  }
};
