// `npm start` to the first 200 of /readyz: the first time (nothing built, an empty data folder) and again.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { inTemporaryFolder, launch, median, root } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const results = { 'first: nothing built, no data': [], 'first after a build: no data': [], again: [] };

const start = async (name, dataDir) => {
  const server = await launch(['npm', 'start', '--silent'], { dataDir });
  results[name].push(server.readyInMs / 1000);
  await server.stop();
};

for (let round = 0; round < rounds; round += 1) {
  await inTemporaryFolder(async (folder) => {
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    await start('first: nothing built, no data', join(folder, 'first'));
    await start('first after a build: no data', join(folder, 'second'));
    await start('again', join(folder, 'second'));
  });
}

console.log(`Node ${process.version}, ${rounds} rounds, seconds from \`npm start\` to /readyz\n`);
console.log('| start | min | median | max |\n|---|---|---|---|');
for (const [name, values] of Object.entries(results)) {
  const cells = [Math.min(...values), median(values), Math.max(...values)].map((value) => value.toFixed(2));
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
