/**
 * The command `guestlist conformance`: checks any server of the interface over HTTP. Written from the specification; may share no
 * code with Guestlist's server, because a common mistake would then go unnoticed.
 */
import { additionChecks } from './checks/additions.js';
import { dashboardEmbedChecks } from './checks/dashboard-embeds.js';
import { dataAppChecks } from './checks/data-apps.js';
import { datamartChecks } from './checks/datamarts.js';
import { embedChecks } from './checks/embeds.js';
import { guestTokenChecks } from './checks/guest-token.js';
import { queryChecks } from './checks/query.js';
import { semanticLayerChecks } from './checks/semantic-layer.js';
import { updateDatamartChecks } from './checks/update-datamart.js';
import { workspaceDashboardChecks } from './checks/workspace-dashboards.js';
import { workspaceChecks } from './checks/workspaces.js';
import type { Check } from './kit/check.js';
import { conformanceUsage, readOptions } from './kit/options.js';
import { toJson, writeReport } from './report.js';
import { runChecks } from './run.js';

/** Every check, in the order of the specification. */
const allChecks: readonly Check[] = [
  ...guestTokenChecks,
  ...embedChecks,
  ...dashboardEmbedChecks,
  ...dataAppChecks,
  ...datamartChecks,
  ...updateDatamartChecks,
  ...semanticLayerChecks,
  ...workspaceChecks,
  ...workspaceDashboardChecks,
  ...queryChecks,
  ...additionChecks,
];

export type Output = { readonly log: (text: string) => void; readonly error: (text: string) => void };

/**
 * Runs the checks and returns the exit code: 0 all hold, 1 a check fails or the run was stopped, 2 wrong arguments. `ask`
 * sends the requests.
 */
export const runConformance = async (
  args: readonly string[],
  output: Output,
  stop: AbortSignal,
  ask: typeof fetch = fetch,
): Promise<number> => {
  const options = readOptions(args);
  if (options === undefined) {
    output.log(conformanceUsage);
    return 0;
  }
  if (typeof options === 'string') {
    output.error(`guestlist: ${options}\n\n${conformanceUsage}`);
    return 2;
  }
  const report = await runChecks(allChecks, options, stop, ask);
  output.log(options.isJson ? JSON.stringify(toJson(report), null, 2) : writeReport(report));
  const doesHold = report.outcomes.every(({ result }) => result !== 'fails');
  return doesHold && !stop.aborted ? 0 : 1;
};

/** Aborts at the first Ctrl-C, so that the run removes what it created. The second one ends the process. */
export const stopOnSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
};
