/** Looks at a whole installation, from the configuration to stuck work, and says how each fault is mended. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Registry } from 'prom-client';
import { checkMailServer } from '../../delivery/mailer.js';
import { loadPolicyFile } from '../../gateway/policy/load.js';
import { PolicyFaults } from '../../gateway/policy/source.js';
import { whole } from '../../model/slices.js';
import { counted } from '../../model/texts/counted.js';
import { placeOf } from '../../platform/addresses/database-url.js';
import { type Config, ConfigError } from '../../platform/config/config.js';
import { loadCredentials } from '../../platform/config/credentials.js';
import { describeUnknown } from '../../platform/config/environment.js';
import { listDone } from '../../platform/databases/migrate.js';
import type { Place } from '../../platform/databases/move/places.js';
import { createSealer, readKeyRing } from '../../platform/keys/sealing.js';
import { createStore } from '../../service/store/store.js';
import { schemaName as serviceSchema } from '../../service/store/tables.js';
import { openEngine } from '../engine.js';
import type { MetadataOptions } from '../metadata.js';
import { openSource, type Source } from '../move/backup.js';
import { folderAt, isEmptyFolder } from '../move/ends.js';
import { bundleOf } from './bundle.js';
import { examined, type Finding, finding, good } from './finding.js';
import {
  examineAddresses,
  examineBrowser,
  examineFolder,
  examineNode,
  examineProcess,
  isLocalHost,
  type ReadReady,
} from './machine.js';
import { examineMail, type ReadTexts } from './mail.js';
import { countTables, examineMetadata, type Keys } from './metadata.js';
import { examineRedis } from './redis.js';
import { examineSources } from './sources.js';

export type DoctorParts = MetadataSurroundings & {
  /** Reads the configuration. May throw ConfigError. */
  readonly load: () => Config;
  readonly service: boolean;
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly readTexts: ReadTexts;
  readonly readReady: ReadReady;
  readonly say: (text: string) => void;
};

type MetadataSurroundings = Pick<MetadataOptions, 'clock' | 'log'>;

export type Examined = {
  readonly findings: readonly Finding[];
  /** The text of the file for support. */
  readonly bundle: string;
};

const configurationFindings = (config: Config): readonly Finding[] => [
  good('configuration', 'it has no fault'),
  ...config.findUnknownVariables().map((unknown) =>
    finding('warning', 'configuration', 'a variable of the environment is no setting', {
      subject: describeUnknown(unknown),
      mend: 'Correct its name, or remove it.',
    }),
  ),
];

const faultyConfiguration = ({ faults }: ConfigError): readonly Finding[] =>
  faults.map(({ file, path, mend }) =>
    finding('fault', 'configuration', 'it has a fault', { subject: `${file}: ${path}`, mend }),
  );

const policyFindings = (config: Config): readonly Finding[] => {
  if (config.isDemo) return [];
  try {
    loadPolicyFile(resolve(config.folder, config.settings.gateway.policies));
    return [good('policy', 'it has no fault')];
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    return [
      finding('fault', 'policy', `it has ${counted(error.faults.length, 'fault')}`, {
        subject: error.message,
        mend: 'guestlist policy test names each of them, with its place.',
      }),
    ];
  }
};

const sourceFindings = async (
  { db }: Source,
  config: Config,
  { keyRing }: Keys,
  { clock, log }: MetadataSurroundings,
): Promise<readonly Finding[]> => {
  if ((await listDone(db, serviceSchema)).length === 0) return [];
  const store = createStore(db as never, createSealer(...keyRing));
  const listed = await whole(store.datasources.list(null));
  const found = await Promise.all(listed.map(({ name }) => store.datasources.findByName(name)));
  const parts = { config, bundle: null, keyRing, clock, log, registry: new Registry(), sourceEnvironment: {} };
  const { engine, close } = await openEngine(parts, false);
  try {
    return await examineSources(
      engine,
      found.filter((one) => one !== undefined),
    );
  } finally {
    await close();
  }
};

const keptSecrets = async (dataDir: string): Promise<readonly string[]> => {
  try {
    return Object.values(JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))).map(String);
  } catch {
    // Whatever is wrong with the file is a finding of the start; here it only has no secrets to hide.
    return [];
  }
};

const mendDatabase = 'Check DATABASE_URL, or the data folder: the message says what is wrong.';

/** The keys of this machine. Without a file of the first start, none is made: the doctor changes nothing. */
const findKeys = async ({ settings, secrets }: Config): Promise<Keys | null> => {
  if (existsSync(join(settings.dataDir, 'credentials.json'))) return loadCredentials(settings.dataDir, secrets);
  const keyRing = readKeyRing(secrets.encryptionKey ?? '');
  return keyRing === undefined ? null : { keyRing, keySource: 'GUESTLIST_ENCRYPTION_KEY' };
};

/** Opens the metadata once for all checks that read it. */
const examineDatabase = async (
  config: Config,
  { service, clock, log }: DoctorParts,
  tables: Record<string, number>,
) => {
  const { databaseUrl, dataDir } = config.settings;
  const place: Place =
    databaseUrl === null ? { kind: 'folder', dataDir: resolve(dataDir) } : { kind: 'server', databaseUrl };
  const folder = folderAt(place, service);
  if (folder !== null && (await isEmptyFolder(folder)))
    return [finding('note', 'metadata database', 'there is none yet: the first start makes it')];
  const keys = await findKeys(config);
  const source = await openSource(config, place, service, { clock, log });
  try {
    const isLocal = databaseUrl === null || isLocalHost(placeOf(databaseUrl).replace(/(?::\d+)?\/.*$/, ''));
    const sendsUsage = config.settings.usage.channel !== null;
    const exam = { ...source, isServer: databaseUrl !== null, isLocal, clock, sendsUsage, keys };
    const found = await examineMetadata(exam);
    Object.assign(tables, await countTables(source.db));
    const mend = 'The message says what is wrong.';
    if (keys === null) return found;
    const sources = () => sourceFindings(source, config, keys, { clock, log });
    return [...found, ...(await examined('datasources', mend, sources))];
  } finally {
    await source.close();
  }
};

const loadOr = (load: () => Config): Config | ConfigError => {
  try {
    return load();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
};

/** Never rejects because of what it finds: each check that fails is a finding, and the others go on. */
export const examine = async (parts: DoctorParts): Promise<Examined> => {
  const { load, clock, log, version, environment, readTexts, readReady, say } = parts;
  const loaded = loadOr(load);
  const config = loaded instanceof ConfigError ? undefined : loaded;
  const tables: Record<string, number> = {};
  const findings: Finding[] = [...examineNode(process.version)];
  const look = async (what: string, mend: string, check: () => Promise<readonly Finding[]>): Promise<void> => {
    say(`looking at ${what}`);
    findings.push(...(await examined(what, mend, check)));
  };
  if (loaded instanceof ConfigError) findings.push(...faultyConfiguration(loaded));
  if (config !== undefined) {
    const { settings } = config;
    findings.push(...configurationFindings(config), ...examineAddresses(config));
    await look('policy', 'The message says what is wrong.', async () => policyFindings(config));
    await look('metadata database', mendDatabase, () => examineDatabase(config, parts, tables));
    await look('data folder', 'Check who owns it.', () => examineFolder(settings));
    await look('Redis', 'Check REDIS_URL.', () => examineRedis(settings.redisUrl, log));
    await look('Chromium', 'Check renders.chromiumPath.', () => examineBrowser(settings));
    await look('mail', 'DNS or the mail server does not answer: check the resolver of this machine.', () =>
      examineMail(config, readTexts, checkMailServer),
    );
    await look('process', 'Check server.host and server.port.', () => examineProcess(readReady));
  }
  const kept = config === undefined ? [] : await keptSecrets(resolve(config.settings.dataDir));
  const at = clock.now().toISOString();
  return { findings, bundle: bundleOf({ version, at, findings, config, tables, environment, kept }) };
};
