/** A plan as a table. */
import type { Plan } from './plan.js';
import type { Effect } from './plan-changes.js';
import { writeTable } from './text-table.js';

const words: Readonly<Record<Effect, string>> = {
  gain: 'gains',
  loss: 'loses',
  both: 'gains and loses',
  other: 'changes',
};

const writeSummary = ({ counts }: Plan): string => {
  const { users, unchanged, gain, loss, both, other, denied } = counts;
  const parts = [
    ...(gain > 0 ? [`${gain} gain`] : []),
    ...(loss > 0 ? [`${loss} lose`] : []),
    ...(both > 0 ? [`${both} gain and lose`] : []),
    ...(other > 0 ? [`${other} change otherwise`] : []),
    `${unchanged} unchanged`,
  ];
  const codes = Object.entries(denied).map(([code, count]) => `${count} ${code}`);
  const alsoDenied = codes.length === 0 ? '' : `; denied before and after: ${codes.join(', ')}`;
  return `${users} ${users === 1 ? 'user' : 'users'}: ${parts.join(', ')}${alsoDenied}`;
};

/** The text, without a newline at its end. */
export const writePlan = (plan: Plan): string => {
  const rows = plan.changed.flatMap(({ policy, line, user, tenant, changes }) =>
    changes.map(({ field, effect, old, new: now }) => [
      policy,
      String(line),
      user,
      tenant ?? '-',
      words[effect],
      field,
      old,
      now,
    ]),
  );
  const table =
    rows.length === 0
      ? []
      : [writeTable([['POLICY', 'LINE', 'USER', 'TENANT', '', 'FIELD', 'OLD', 'NEW'], ...rows]), ''];
  return [...plan.notes.map((note) => `note: ${note}`), ...table, writeSummary(plan)].join('\n');
};
