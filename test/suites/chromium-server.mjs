// `node chromium-server.mjs EXECUTABLE RUNNER`: one Chromium for all test files of a run. Prints the address at which
// playwright connects, and ends with the process RUNNER.
import { chromium } from 'playwright-core';

const [executablePath, runner] = process.argv.slice(2);
const server = await chromium.launchServer({
  executablePath,
  args: [
    '--no-sandbox',
    '--headless',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
process.stdout.write(`${server.wsEndpoint()}\n`);

const isAlive = () => {
  try {
    return process.kill(Number(runner), 0);
  } catch {
    return false;
  }
};
setInterval(async () => {
  if (isAlive()) return;
  await server.close();
  process.exit(0);
}, 500);
