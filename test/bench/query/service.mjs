// The service as a separate process. It may read DuckDB files in `folder`, and the named hosts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { credentialsIn, launch, root } from '../server.mjs';

export const startService = async (folder, { allowedHosts = [], execArgv = [], env = {}, settings = {} } = {}) => {
  const file = join(folder, 'guestlist.yaml');
  writeFileSync(file, stringify({ datasources: { duckdbFolders: [folder], allowedHosts }, ...settings }));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const command = [process.execPath, ...execArgv, join(root, 'bin/guestlist.mjs'), 'serve', '--only', 'service'];
  const limits = { GUESTLIST_GUEST_TOKEN_PER_MINUTE: '100000000', GUESTLIST_GUEST_ADDRESS_PER_MINUTE: '100000000' };
  const own = { GUESTLIST_CONFIG: file, GUESTLIST_DEMO: '0', GUESTLIST_LOG_LEVEL: 'warn', ...limits };
  const service = await launch(command, { dataDir, env: { ...own, ...env } });
  return { ...service, serviceToken: (await credentialsIn(dataDir)).serviceToken };
};
