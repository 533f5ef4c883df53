/** The command line. */
import { run } from './run.js';

const code = await run(process.argv.slice(2));
if (code !== 0) process.exitCode = code;
