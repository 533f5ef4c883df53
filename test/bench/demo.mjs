// Starts the demo by another configuration file: `node demo.mjs FILE`. The command line starts no demo by a file that it is given.

import { start } from '../../dist/main.js';
import { loadConfig } from '../../dist/platform/config/config.js';

const [file] = process.argv.slice(2);
const product = await start(loadConfig(process.env, file, { runsGateway: true, runsService: true }), {
  gateway: true,
  service: true,
});
process.once('SIGTERM', () => void product.close());
