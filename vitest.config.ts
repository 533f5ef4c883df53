import { defineConfig } from 'vitest/config';
import { isLong } from './test/long.js';

/**
 * What takes minutes of two cores, and guards what seldom changes: `npm run test:long` runs these, `npm test` all others. Together they
 * would pass the ten minutes that a run may take.
 */
const long = [
  'test/contract/openapi-lint.test.ts',
  'test/deploy/container.test.ts',
  'test/deploy/image.test.ts',
  'test/deploy/install.test.ts',
  'test/documents/run-blocks.test.ts',
  'test/engine/chinook.test.ts',
  'test/evaluation/chat.test.ts',
  'test/fault/damaged-folder.test.ts',
  'test/fault/failed-starts.test.ts',
  'test/fault/fault.test.ts',
  'test/fault/folder.test.ts',
  'test/fault/power-cut.test.ts',
  'test/fault/readiness.test.ts',
  'test/fault/stopping.test.ts',
  'test/fault/table-failover.test.ts',
  'test/fault/table-full.test.ts',
  'test/fault/table-kills.test.ts',
  'test/fault/table.test.ts',
  'test/fault/takeover.test.ts',
  'test/fault/torn-files.test.ts',
  'test/gateway/rollout-many.test.ts',
  'test/gateway/rollout.test.ts',
  'test/packages/installed-examples.test.ts',
  'test/packages/installed.test.ts',
  'test/packages/packages.test.ts',
  'test/platform/database.test.ts',
  'test/platform/lock-socket.test.ts',
  'test/product/cards.test.ts',
  'test/product/chat.test.ts',
  'test/product/conformance.test.ts',
  'test/product/docs-site.test.ts',
  'test/product/download.test.ts',
  'test/product/drawn.test.ts',
  'test/product/first-start.test.ts',
  'test/product/goldens.test.ts',
  'test/product/hosts.test.ts',
  'test/product/issuers.test.ts',
  'test/product/labels.test.ts',
  'test/product/lifecycle.test.ts',
  'test/product/own-boards.test.ts',
  'test/product/own-data.test.ts',
  'test/product/policy.test.ts',
  'test/product/previous-release.test.ts',
  'test/product/provisioning.test.ts',
  'test/product/replicas.test.ts',
  'test/product/rollout-cli.test.ts',
  'test/product/studio-run.test.ts',
  'test/product/tenancy-cli.test.ts',
  'test/product/tenants-cli.test.ts',
  'test/product/tenants-rollout.test.ts',
  'test/product/tiles.test.ts',
  'test/product/token-life.test.ts',
  'test/product/upgrade.test.ts',
  'test/product/views.test.ts',
  'test/product/without-studio.test.ts',
  'test/web/elements-api.test.ts',
  'test/web/host-page.test.ts',
  'test/web/long-table.test.ts',
  'test/web/token-life.test.ts',
  'test/web/url-mirror.test.ts',
];
/** Files with tests that run only with `TEST_LONG=1`, where they run as a whole. */
const partlyLong = [
  'test/cli/commands.test.ts',
  'test/cli/files.test.ts',
  'test/cli/init.test.ts',
  'test/contract/xlsx.test.ts',
  'test/deliver/alerts.test.ts',
  'test/deliver/host-schedules.test.ts',
  'test/deliver/spread.test.ts',
  'test/gateway/hooks.test.ts',
  'test/product/charts.test.ts',
  'test/product/doors.test.ts',
  'test/product/guest-editing.test.ts',
  'test/product/schedules.test.ts',
  'test/product/studio-dashboard.test.ts',
  'test/product/studio.test.ts',
];
/** These build the packages too: after the others, so that no two builds write into one folder. */
const afterOthers = ['test/packages/installed-examples.test.ts', 'test/packages/packages.test.ts'];

const filesOf = (folders: readonly string[]) => folders.map((name) => `test/${name}/**/*.test.ts`);
/**
 * Files of these folders share a process and what it imported: to load it anew for each takes a third of the time. What
 * one changes, it puts back.
 */
const shared = filesOf(['contract', 'domain', 'gateway', 'studio', 'usecases']);
/** These share another process. None of them sets the clock: what is imported meanwhile would keep that clock's Date. */
const timeless = filesOf(['cli', 'engine', 'isolation', 'store', 'web']);
/**
 * Sets the clock weeks ahead. An embedded database that another file left in the process would wait for that day, in
 * waits that Node cannot make, and use the processor for the rest of the run.
 */
const clocked = ['test/gateway/limits.test.ts'];
/** By themselves: what is imported while they set the clock keeps that clock's Date. */
const spec = ['test/spec/**/*.test.ts'];
/** Their clock is injected, so they share a process too. */
const injected = filesOf(['deliver', 'documents']);
/** These start processes of their own, and change nothing in this one. */
const spawning = filesOf(['product']);
const own = ['test/**/*.test.ts'];

export default defineConfig({
  test: {
    // Real servers and browsers share two cores: a test is given time, and never asserts it.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // More than the two processors of most machines: a test waits for servers and browsers for much of its time.
    maxWorkers: 4,
    globalSetup: ['test/flights-cache.ts', 'test/suites/clickhouse-server.ts'],
    projects: isLong
      ? [
          { extends: true, test: { name: 'long', include: [...long, ...partlyLong], exclude: afterOthers } },
          { extends: true, test: { name: 'long, last', include: afterOthers, sequence: { groupOrder: 1 } } },
        ]
      : [
          { extends: true, test: { name: 'spec', include: spec, exclude: long, isolate: false } },
          { extends: true, test: { name: 'shared', include: shared, exclude: [...long, ...clocked], isolate: false } },
          { extends: true, test: { name: 'timeless', include: timeless, exclude: long, isolate: false } },
          {
            extends: true,
            test: {
              name: 'own',
              include: own,
              exclude: [...long, ...shared, ...timeless, ...spec, ...injected, ...spawning],
            },
          },
          { extends: true, test: { name: 'injected', include: injected, exclude: long, isolate: false } },
          { extends: true, test: { name: 'spawning', include: spawning, exclude: long, isolate: false } },
          { extends: true, test: { name: 'clocked', include: clocked } },
        ],
  },
});
