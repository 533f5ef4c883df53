/** Writes what a channel gets: JSON for a webhook, text for one that is compatible with Slack. */
import type { Cell } from '../model/query/engine.js';
import type { ReportFormat } from '../model/schedule/schedule.js';
import { speechOf } from '../model/texts/messages.js';
import type { Channel } from '../platform/config/channels.js';
import { type AlertKind, type AlertText, kindOf, sentencesOf, titles } from './alert-text.js';
import { plainLine } from './plain-line.js';

export type PostedText = {
  readonly scheduleId: string;
  readonly scheduleName: string;
  readonly clientId: string;
  /** Of the texts for people: JSON has the id alone. Left out: the id. */
  readonly tenantName?: string | undefined;
  readonly dashboardId: string;
  readonly dashboardName: string;
  readonly dashboardUrl: string | null;
  readonly format: ReportFormat;
  /** Of the texts for people; JSON has none. Undefined: English. */
  readonly language?: string | undefined;
  readonly moment: Date;
  readonly alert: AlertText | null;
};

const types: Readonly<Record<AlertKind, string>> = {
  breach: 'alert.breached',
  recovery: 'alert.recovered',
  check: 'alert.checked',
};

/** Rows that appeared, of which more are only counted. */
const mostRows = 100;

/** Values as they are: how dates are written is for people. */
const alertJson = ({ appeared, at, dates: _, numbers: __, hasChanged: ___, metricName, ...alert }: AlertText) => ({
  ...alert,
  metric: metricName,
  row: at,
  appeared: appeared.slice(0, mostRows) as readonly (readonly Cell[])[],
  appearedTotal: appeared.length,
});

const webhookBody = (text: PostedText): string => {
  const { scheduleId, scheduleName, clientId, dashboardId, dashboardName, dashboardUrl, moment, alert } = text;
  return JSON.stringify({
    type: alert === null ? 'report.due' : types[kindOf(alert)],
    timestamp: moment.toISOString(),
    data: {
      tenant: clientId,
      schedule: { id: scheduleId, name: scheduleName },
      dashboard: { id: dashboardId, name: dashboardName, url: dashboardUrl },
      alert: alert === null ? null : alertJson(alert),
    },
  });
};

/** As code, in which neither Slack nor servers like it read mentions, links or emphasis. */
const asCode = (text: string): string => `\`${plainLine(text).replaceAll('`', "'") || ' '}\``;

/** Slack reads `<` as the beginning of a link or of a mention, wherever it is. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const slackBody = (posted: PostedText): string => {
  const { scheduleName, clientId, tenantName, dashboardName, dashboardUrl, alert, language } = posted;
  const speech = speechOf(language);
  const { text } = speech;
  const label = text(alert === null ? 'Report' : titles[kindOf(alert)]);
  const value = `${asCode(scheduleName)} (${asCode(dashboardName)}, ${asCode(tenantName ?? clientId)})`;
  const lines = [
    text('{label}: {value}', { label, value }),
    ...(alert === null ? [] : sentencesOf(alert, speech, asCode)),
    ...(dashboardUrl === null ? [] : [dashboardUrl]),
  ];
  return JSON.stringify({ text: escaped(lines.join('\n')) });
};

export const postingOf = ({ kind }: Channel, text: PostedText): string =>
  kind === 'slack' ? slackBody(text) : webhookBody(text);
