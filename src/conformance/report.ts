import { type OperationId, operations } from './kit/operations.js';
import type { Outcome, Report } from './run.js';

type Count = { readonly holds: number; readonly fails: number; readonly notTried: number };

const countOf = (outcomes: readonly Outcome[]): Count => {
  const of = (wanted: Outcome['result']) => outcomes.filter(({ result }) => result === wanted).length;
  return { holds: of('holds'), fails: of('fails'), notTried: of('not tried') };
};

const writeRow = (number: string, name: string, { holds, fails, notTried }: Count): string =>
  [
    number.padStart(4),
    name.padEnd(28),
    String(holds).padStart(6),
    String(fails).padStart(6),
    String(notTried).padStart(10),
  ].join('  ');

const indent = (text: string): string => text.replaceAll(/^/gm, '      ');

const writeFailure = ({ operation, sentence, message, request, answer }: Outcome): string =>
  [
    `  ${operation}: ${sentence}`,
    `    ${message}`,
    ...(request === undefined ? [] : ['    request:', indent(request)]),
    ...(answer === undefined ? [] : ['    answer:', indent(answer)]),
  ].join('\n');

/** Each reason for checks that were not tried, with their number. */
const writeReasons = (outcomes: readonly Outcome[]): readonly string[] => {
  const reasons = outcomes.flatMap(({ result, message }) => (result === 'not tried' ? [message ?? ''] : []));
  return [...new Set(reasons)].map((reason) => `  ${reasons.filter((other) => other === reason).length} × ${reason}`);
};

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];

/** The report as text: a table by operation, the failures with request and answer, what was not tried, what was not deleted. */
export const writeReport = ({ outcomes, left }: Report): string => {
  const rows = Object.entries(operations).flatMap(([id, number]) => {
    const own = outcomes.filter(({ operation }) => operation === id);
    return own.length === 0 ? [] : [writeRow(number, id, countOf(own))];
  });
  const failures = outcomes.filter(({ result }) => result === 'fails');
  return [
    `  no  ${'operation'.padEnd(28)}   holds   fails   not tried`,
    ...rows,
    writeRow('', 'all', countOf(outcomes)),
    ...section(`${failures.length} sentence(s) do not hold:`, failures.map(writeFailure)),
    ...section('Not tried:', writeReasons(outcomes)),
    ...section(
      'Created and not deleted:',
      left.map((thing) => `  ${thing}`),
    ),
  ].join('\n');
};

/** The report as data: counts by operation, every outcome, and what was not deleted. */
export const toJson = ({ outcomes, left }: Report) => ({
  operations: Object.fromEntries(
    (Object.keys(operations) as OperationId[])
      .map((id) => [id, countOf(outcomes.filter(({ operation }) => operation === id))] as const)
      .filter(([, { holds, fails, notTried }]) => holds + fails + notTried > 0),
  ),
  outcomes,
  left,
});
