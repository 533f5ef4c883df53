// `npm run bench -- NAME`: runs one bench of this folder. Each prints a Markdown table; RESULTS.md has the tables that documents and commits quote.
const benches = {
  token: './token.mjs',
  start: './start.mjs',
  query: './query.mjs',
  neighbours: './neighbours.mjs',
  steps: './steps.mjs',
  floods: './floods.mjs',
  lists: './lists.mjs',
  'whole-list': './whole-list.mjs',
  'many-tenants': './many-tenants.mjs',
  drafts: './drafts.mjs',
  'first-hour': './first-hour.mjs',
  page: './page.mjs',
  studio: './studio.mjs',
  deliver: './deliver.mjs',
  backup: './backup.mjs',
  operator: './operator.mjs',
  rollups: './rollups.mjs',
  soak: './soak.mjs',
  'cached-tokens': './cached-tokens.mjs',
  metering: './metering.mjs',
};

const [name = ''] = process.argv.slice(2);
const file = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (file === undefined) {
  console.error(`usage: npm run bench -- ${Object.keys(benches).join(' | ')}`);
  process.exitCode = 2;
} else {
  await import(file);
}
