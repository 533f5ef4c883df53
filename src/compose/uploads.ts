/** Builds what takes files in Studio. */
import { resolve } from 'node:path';
import { readFileKind } from '../engine/uploads/file-kind.js';
import { createMakeDatabase } from '../engine/uploads/make-database.js';
import { assertPlainUpload } from '../engine/uploads/plain-database.js';
import type { Datasource } from '../model/organization.js';
import type { Clock } from '../model/ports.js';
import { whole } from '../model/slices.js';
import type { AssertReachable } from '../platform/calls/reach.js';
import type { Settings } from '../platform/config/config.js';
import { createUploadFolder, isUploadIn } from '../platform/files/upload-folder.js';
import type { Store } from '../service/store/store.js';
import type { Uploads } from '../studio/uploads.js';

const usualMegabytes = 256;
const megabyte = 1_048_576;
/** A database may be larger than the compressed file that it is made of. */
const timesLarger = 8;
const memoryMegabytes = 512;
const timeoutMs = 300_000;

/** A file that was uploaded before uploads were checked is checked each time it is opened. */
export const assertingPlainUploads =
  (dataDir: string, assertReachable: AssertReachable): ((datasource: Datasource) => Promise<void>) =>
  async (datasource) => {
    await assertReachable(datasource);
    if (datasource.datasourceType !== 'DUCKDB' || !(await isUploadIn(dataDir, datasource.path))) return;
    await assertPlainUpload(datasource.name, datasource.path);
  };

const refusalOf = ({ studio, databaseUrl }: Settings): string | null => {
  if (studio.uploadMegabytes === 0) return 'Uploads are turned off: the operator sets studio.uploadMegabytes.';
  if (studio.uploadMegabytes !== null || databaseUrl === null) return null;
  return 'Other processes may share the metadata (databaseUrl), and would not have the file. If this is the only process, or all share the data folder, the operator sets studio.uploadMegabytes.';
};

export const createUploads = (
  settings: Settings,
  { datasources }: Pick<Store, 'datasources'>,
  clock: Clock,
): Uploads => {
  const megabytes = settings.studio.uploadMegabytes ?? usualMegabytes;
  return {
    refusal: refusalOf(settings),
    maxBytes: megabytes * megabyte,
    folder: createUploadFolder(resolve(settings.dataDir), clock),
    readFileKind,
    makeDatabase: createMakeDatabase({ memoryMegabytes, diskMegabytes: megabytes * timesLarger, timeoutMs }),
    findSource: (name) => datasources.findByName(name),
    listSources: async () => {
      const named = await whole(datasources.list(null));
      const found = await Promise.all(
        named
          .filter(({ datasourceType }) => datasourceType === 'DUCKDB')
          .map(({ name }) => datasources.findByName(name)),
      );
      return found.filter((one) => one !== undefined);
    },
  };
};
