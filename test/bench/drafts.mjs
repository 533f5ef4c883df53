/**
 * How long the server's event loop is blocked while the largest drafts of a policy are checked, one after the other. `BENCH_BEFORE=FOLDER` (another
 * checkout, built) is measured before this one.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { credentialsIn, inTemporaryFolder, launch, root } from './server.mjs';

const many = (count, write) => Array.from({ length: count }, (_, nth) => write(nth)).join('');
const head = `version: 1
dataApp: shop
workspace: shop
datamart: shop
session: { claims: { org: string, roles: list<string> }, tenant: claims.org, roles: claims.roles }
templates: { sales: { name: Sales } }
rules:
  - { name: all, when: "true", grant: { templates: [sales] } }
`;
const drafts = {
  '2,000 rules':
    head +
    many(2000, (nth) => `  - { name: r${nth}, when: '"r${nth}" in user.roles', grant: { templates: [sales] } }\n`),
  '9,000 short rules': head + many(9000, (nth) => `  - {name: a${nth}, when: 'true', grant: {embeds: [x]}}\n`),
  '40,000 unknown keys': head + many(40_000, (nth) => `k${nth}: 1\n`),
  '30,000 values': `${head}restrictions:\n- {name: a, when: "true", restrict: {rls: {${many(30_000, (nth) => `a${nth}: "1",`)}}}}\n`,
  '240,000 faults of syntax': head + '] '.repeat(240_000),
};

/** With the measure of the event loop, which counts processor time too: a busy machine does not stretch that. */
const start = (checkout, dataDir) => {
  const measured = ['--import', join(root, 'test/bench/loop-delay.mjs')];
  const command = [process.execPath, ...measured, join(checkout, 'bin/guestlist.mjs'), 'serve'];
  return launch(command, { dataDir, hasIpc: true });
};

const askLoop = async ({ child }, message) => {
  child.send(message);
  return (await once(child, 'message'))[0];
};

const measure = async (server, { gatewayToken }, text) => {
  await askLoop(server, 'reset');
  const since = performance.now();
  const answer = await fetch(`${server.url}/gateway/admin/policy-check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatewayToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  if (!answer.ok) throw new Error(`policy-check answered ${answer.status}`);
  await answer.text();
  const checkedInMs = performance.now() - since;
  const { processor } = await askLoop(server, 'read');
  return [processor.max, checkedInMs].map((value) => value.toFixed(0)).join(' | ');
};

const before = process.env.BENCH_BEFORE;
const checkouts = [...(before === undefined ? [] : [['before', before]]), ['now', root]];
console.log(`Node ${process.version}\n`);
console.log('| draft | | longest block of the event loop, ms of processor time | checked after, ms |');
console.log('|---|---|---|---|');
for (const [which, checkout] of checkouts) {
  await inTemporaryFolder(async (folder) => {
    const dataDir = join(folder, 'data');
    const server = await start(checkout, dataDir);
    const credentials = await credentialsIn(dataDir);
    try {
      for (const [name, text] of Object.entries(drafts))
        console.log(`| ${name} | ${which} | ${await measure(server, credentials, text)} |`);
    } finally {
      await server.stop();
    }
  });
}
