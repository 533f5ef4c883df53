// `npm run structure`: prints figures of src's structure as a table. `-- --list` adds circles and small files; `--
// --path` adds the files of two requests (path.mjs).
import { fileCircles, readSources, roomCircles } from './graph.mjs';

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const sources = readSources();
const functions = sources.flatMap(({ file, functions }) => functions.map((one) => ({ ...one, file })));
const importers = new Map();
for (const { imports } of sources) for (const path of imports) importers.set(path, (importers.get(path) ?? 0) + 1);
const small = sources.filter(({ file, lines }) => lines < 60 && importers.get(file) === 1);
const circles = fileCircles(sources);
const rooms = roomCircles(sources);
const largest = (list, key) => list.toSorted((a, b) => b[key] - a[key])[0];
const longest = largest(functions, 'length');
const biggest = largest(sources, 'lines');

const rows = [
  ['files', sources.length],
  ['lines', sources.reduce((sum, { lines }) => sum + lines, 0)],
  ['folders', new Set(sources.map(({ folder }) => folder)).size],
  ['circles of files', `${circles.length} (${circles.reduce((sum, circle) => sum + circle.length, 0)} files)`],
  ['circles of rooms, nested or not', rooms.length],
  [
    'lines of a file, median and longest',
    `${median(sources.map(({ lines }) => lines))}, ${biggest.lines} (${biggest.file})`,
  ],
  [
    'lines of a function, median and longest',
    `${median(functions.map(({ length }) => length))}, ${longest.length} (${longest.file}:${longest.line})`,
  ],
  ['files under 60 lines with one importer', small.length],
];
console.log(['| src | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n'));

if (process.argv.includes('--list')) {
  console.log('\nCircles of files:');
  for (const circle of circles) console.log(`  ${circle.join(', ')}`);
  console.log('\nCircles of rooms, with the imports of the smallest direction:');
  for (const { room, parts, imports } of rooms)
    console.log(`  ${room}: ${parts.join(', ')}\n    ${imports.join('\n    ')}`);
  console.log('\nFiles under 60 lines with one importer:');
  for (const { file, lines } of small) console.log(`  ${file} (${lines})`);
}

if (process.argv.includes('--path')) {
  const { measurePaths } = await import('./path.mjs');
  const { embedToken, guestQuery } = await measurePaths();
  console.log(
    `\nA cold POST /embed-token runs through ${embedToken.length} files, a guest's query through ${guestQuery.length}.`,
  );
  if (process.argv.includes('--list')) {
    console.log(`\nPOST /embed-token:\n  ${embedToken.join('\n  ')}\n\nGuest query:\n  ${guestQuery.join('\n  ')}`);
  }
}
