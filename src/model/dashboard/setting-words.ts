/** The settings of a copy in words, and what changed between two of them. */
import { differing } from '../canonical-json.js';
import { allowances, type CopySettings } from './embed.js';

const settingWords: Readonly<Record<string, string>> = {
  ...allowances,
  isAllowAiPilot: 'The assistant.',
  isAllowDashboardCreation: 'Own dashboards of users.',
  metricCreationMode: 'How users create metrics.',
  tableTenancySettings: 'Client columns of tables.',
  joinModel: 'How tables are joined.',
};

/** A setting as people read it: `reports by e-mail (isAllowEmailReports)`. */
const settingInWords = (name: string): string => {
  const about = settingWords[name]?.replace(/\.$/, '');
  return about === undefined ? name : `${about.slice(0, 1).toLowerCase()}${about.slice(1)} (${name})`;
};

/** The place of a conflict as people read it. Places of content are paths already. */
export const placeInWords = (path: string): string => {
  if (path === 'settings.name') return 'name of the dashboard';
  const [, name] = /^settings\.accessSettings\.(\w+)$/.exec(path) ?? [];
  return name === undefined ? path : `access setting: ${settingInWords(name)}`;
};

const settingValue = (value: unknown): string => {
  if (value === undefined || value === false) return 'off';
  return value === true ? 'on' : JSON.stringify(value);
};

/** Returns what changed in settings, each change as one sentence. Empty if either side is not known. */
export const settingsChanges = (
  before: CopySettings | undefined,
  after: CopySettings | undefined,
): readonly string[] => {
  if (before === undefined || after === undefined) return [];
  const old: Readonly<Record<string, unknown>> = before.accessSettings;
  const now: Readonly<Record<string, unknown>> = after.accessSettings;
  return [
    ...(before.name === after.name
      ? []
      : [`The name changes from ${JSON.stringify(before.name)} to ${JSON.stringify(after.name)}.`]),
    ...differing(old, now).map(
      (name) =>
        `The access setting ${settingInWords(name)} changes from ${settingValue(old[name])} to ${settingValue(now[name])}.`,
    ),
  ];
};
