/** The command `guestlist conformance`. */
import { allChecks } from './checks/all.js';
import { conformanceUsage, readOptions } from './options.js';
import { toJson, writeReport } from './report.js';
import { runChecks } from './run.js';

export type Output = { readonly log: (text: string) => void; readonly error: (text: string) => void };

/** Runs the checks as `args` say and answers the exit code: 0 all hold, 1 one does not (or the run was stopped), 2 called wrongly. */
export const runConformance = async (args: readonly string[], output: Output, stop: AbortSignal): Promise<number> => {
  const options = readOptions(args);
  if (options === undefined) {
    output.log(conformanceUsage);
    return 0;
  }
  if (typeof options === 'string') {
    output.error(`guestlist: ${options}\n\n${conformanceUsage}`);
    return 2;
  }
  const report = await runChecks(allChecks, options, stop);
  output.log(options.isJson ? JSON.stringify(toJson(report), null, 2) : writeReport(report));
  const doesHold = report.outcomes.every(({ result }) => result !== 'fails');
  return doesHold && !stop.aborted ? 0 : 1;
};
