/** `guestlist usage`: what was used, as the running service counted it. */
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { usageSteps } from '../model/usage.js';
import { readUsage, usageLines } from '../service/usage/contract.js';
import { jsonOption, printAnswer, serviceUrl } from './kit/declare.js';
import { WrongCall } from './kit/exit.js';
import { tableText } from './kit/terminal.js';
import { OperatorError } from './operator.js';
import { connectToService } from './service-client.js';

const readMonth = (text: string): string => {
  if (/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError(`Give a month, such as 2026-03, not "${text}".`);
};

const monthAfter = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 7);
};

type Answer = z.output<typeof readUsage.output>['data'];
type Row = Answer['rows'][number];

const momentOf = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

const groups: Readonly<Record<string, (row: Row) => string | null | undefined>> = {
  FROM: ({ at }) => at?.slice(0, 16),
  'DATA APP': ({ dataAppName }) => dataAppName,
  TENANT: ({ clientId }) => clientId,
  USER: ({ user }) => user,
  DASHBOARD: ({ dashboardId }) => dashboardId,
  METRIC: ({ metricId }) => metricId,
};

const sums: Readonly<Record<string, (row: Row) => number>> = {
  USERS: ({ users }) => users,
  LOGINS: ({ logins }) => logins,
  TOKENS: ({ mints }) => mints,
  QUERIES: ({ sourceQueries }) => sourceQueries,
  KEPT: ({ keptAnswers }) => keptAnswers,
  FAILED: ({ failedAnswers }) => failedAnswers,
  ROWS: (row) => row.rows,
  MS: ({ ms }) => ms,
  FILES: ({ exports }) => exports,
  MAILS: ({ mails }) => mails,
  'MODEL TOKENS': ({ modelTokens }) => modelTokens,
  'WARM-UP': ({ warmUpQueries }) => warmUpQueries,
};

/** Only what was asked for is a column. */
const textOf = ({ rows, isTruncated, sentUntil }: Answer): string => {
  const told = Object.entries(groups).filter(([, read]) => rows.some((row) => (read(row) ?? undefined) !== undefined));
  const names = [...told.map(([name]) => name), ...Object.keys(sums)];
  const cells = rows.map((row) => [
    ...told.map(([, read]) => read(row) ?? '-'),
    ...Object.values(sums).map((read) => String(read(row))),
  ]);
  const more = isTruncated ? '\nThere is more: ask for a shorter time.' : '';
  const sent = sentUntil === null ? '' : `\nSent to the billing system: all hours before ${momentOf(sentUntil)}.`;
  return `${tableText(names, cells)}${more}${sent}`;
};

type Time = {
  readonly month?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};

const timeOf = ({ month, from, to }: Time): { readonly from: string; readonly to: string } => {
  if (month !== undefined && from === undefined && to === undefined) return { from: month, to: monthAfter(month) };
  if (month === undefined && from !== undefined && to !== undefined) return { from, to };
  throw new WrongCall('say which time: --month 2026-03, or both --from and --to');
};

export const usageCommand = new Command()
  .description(
    `Says what was used: logins, tokens, queries at databases, kept answers, files, mails and tokens of language models.
Users appear under pseudonyms. Asks the running service with GUESTLIST_SERVICE_TOKEN, or the token in the data folder.`,
  )
  .option('--month <month>', 'a month of UTC, such as 2026-03', readMonth)
  .option('--from <time>', 'a month, a day, or a moment with its offset')
  .option('--to <time>', 'the end, which is no part of it')
  .option('--tenant <clientId>', 'one tenant; left out: all')
  .option('--data-app <name>', 'one data app; left out: all')
  .option('--by <names>', 'what is told apart: dataApp, tenant, user, dashboard, metric, with commas between', 'tenant')
  .addOption(new Option('--step <step>', 'steps of time').choices(usageSteps))
  .option('--csv', 'print CSV, for a billing system')
  .addOption(jsonOption)
  .addOption(serviceUrl)
  .action(async ({ tenant: clientId, dataApp: dataAppName, by, step, csv, json, url, ...time }) => {
    const call = await connectToService('serviceToken', url);
    const { data } = await call(readUsage, { ...timeOf(time), clientId, dataAppName, by, step });
    if (csv !== true) {
      printAnswer(json, { json: data, text: textOf(data) });
      return;
    }
    // A file that lacks rows would be taken for whole.
    if (data.isTruncated)
      throw new OperatorError('There are too many rows: ask for a shorter time, or tell less apart.');
    process.stdout.write([...usageLines(data.rows)].join(''));
  });
