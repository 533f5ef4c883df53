/** `guestlist running`: what runs now in all processes of the service, and how it is ended. */
import { Command, Option } from '@commander-js/extra-typings';
import type { z } from 'zod';
import type { EndOutcome } from '../model/query/running.js';
import { endRunning, readRunning } from '../service/running/contract.js';
import { jsonOption, printAnswer, serviceUrl } from './kit/declare.js';
import { tableText } from './kit/terminal.js';
import { OperatorError } from './operator.js';
import { connectToService } from './service-client.js';

type Running = z.output<typeof readRunning.output>['data'];
type Work = Running['works'][number];

const whereOf = ({ clientId, dashboardId, metricId }: Work): string =>
  [clientId, dashboardId, metricId].filter((name) => name !== null).join(' / ') || '-';

const worksText = ({ works, processes }: Running): string => {
  const nameOf = (instance: string): string => processes.find((one) => one.instance === instance)?.name ?? instance;
  const rows = works.map((work) => [
    ...[work.state, work.kind, `${work.seconds.toFixed(1)} s`, work.subject, work.dataAppName ?? '-', whereOf(work)],
    ...[nameOf(work.process), work.id ?? '-'],
  ]);
  const header = ['state', 'what', 'for', 'at', 'data app', 'tenant / dashboard / metric', 'process', 'id'];
  return tableText(header, rows, 'Nothing runs.');
};

const processesText = ({ processes, works }: Running): string => {
  const rows = processes.map(({ instance, name, version, startedAt, others, sources }) => {
    const own = works.filter((work) => work.process === instance);
    const count = (state: Work['state']): string => String(own.filter((work) => work.state === state).length);
    const sum = (of: 'open' | 'busy'): string =>
      String(sources.reduce((total, { connections }) => total + connections[of], 0));
    return [name, version, startedAt, count('running'), count('waiting'), String(others), sum('open'), sum('busy')];
  });
  return tableText(['process', 'version', 'since', 'running', 'waiting', 'not listed', 'connections', 'busy'], rows);
};

const deliveriesText = ({ waitingDeliveries: { count, seconds } }: Running): string =>
  count === 0 ? '' : `\n\n${count} message(s) wait to be sent, the oldest for ${seconds.toFixed(0)} s.`;

const textOf = (running: Running): string =>
  `${worksText(running)}\n\n${processesText(running)}${deliveriesText(running)}`;

const outcomeWords: Readonly<Record<Exclude<EndOutcome, 'unanswered'>, string>> = {
  ended: 'It was ended.',
  over: 'It was over already.',
};

export const runningCommand = new Command()
  .description(
    `Lists queries, downloads, builds of rollups, deliveries, roll-outs, logins, the making of dashboards and events of
tenants, of all processes, with their connections; --end ends one of the first five. A roll-out pauses, and can be resumed. A delivery cannot be ended: pause its schedule. Asks the running
service with GUESTLIST_SERVICE_TOKEN, or the token in the data folder.`,
  )
  .addOption(new Option('--end <id>', 'ends this work'))
  .addOption(jsonOption)
  .addOption(serviceUrl)
  .action(async ({ end, json, url }) => {
    const call = await connectToService('serviceToken', url);
    if (end === undefined) {
      const { data } = await call(readRunning, {});
      printAnswer(json, { json: data, text: textOf(data) });
      return;
    }
    const { data } = await call(endRunning, { id: end });
    if (data.outcome === 'unanswered')
      throw new OperatorError(
        'The process that runs it did not answer within five seconds. List what runs, and try again.',
      );
    printAnswer(json, { json: data, text: outcomeWords[data.outcome] });
  });
