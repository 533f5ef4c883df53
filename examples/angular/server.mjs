import { fileURLToPath } from 'node:url';
import { startHost } from '../host.mjs';

await startHost(fileURLToPath(new URL('dist', import.meta.url)));
