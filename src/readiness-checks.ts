/** Everything that `/readyz` of this process asks. */
import { access } from 'node:fs/promises';
import type { Config } from './platform/config.js';
import type { Database } from './platform/database.js';
import type { Check } from './platform/readiness.js';

/** Credentials and the demo's data are in the data folder, whatever keeps the metadata. */
const assertDataFolder = async (dataDir: string, { assertFolder }: Database): Promise<void> => {
  await access(dataDir);
  await assertFolder();
};

type Part = { readonly checks: readonly Check[] } | null | undefined;

export const readinessChecks = ({ settings }: Config, database: Database, parts: readonly Part[]): readonly Check[] => [
  ...parts.flatMap((part) => part?.checks ?? []),
  { name: 'data-folder', run: () => assertDataFolder(settings.dataDir, database) },
];
