/** The commands for the reports and alerts of all users: where they go and what became of them, never what they say. */
import { z } from 'zod';
import {
  type AdminCommand,
  adminCommand,
  changedBy,
  declareCommand,
  type RunBy,
  readBy,
  written,
} from '../gateway/common/admin-command.js';
import { Refusal } from '../model/refusal.js';
import { maskedAddress } from '../model/schedule/address.js';
import { blindSchedule } from '../model/schedule/history.js';
import type { SchedulesOfAll, WatchedSchedule } from '../model/schedule/schedule.js';

const tenant = z.string().min(1).max(255).optional().describe('The id of one tenant. Left out: all.');
const oneSchedule = z.strictObject({ id: z.string().min(1).max(100) });
const ofSchedule = ({ id }: z.output<typeof oneSchedule>) => ({ schedule: id });

const paused = z.object({ id: z.string(), isPaused: z.boolean() });

export const pauseSchedule = declareCommand('schedule-pause', oneSchedule, paused, {
  ...changedBy('support'),
  auditDetail: ofSchedule,
});

export const resumeSchedule = declareCommand('schedule-resume', oneSchedule, paused, {
  ...changedBy('support'),
  auditDetail: ofSchedule,
});

/** What an operator may know of a schedule. A person who sees no data sees no address of a user, nor what rows decide. */
const shownSchedule = (watched: WatchedSchedule, { seesData }: RunBy) => {
  const { owner, ...schedule } = watched;
  const { last } = seesData ? watched : blindSchedule(watched);
  return {
    ...{ id: schedule.id, name: schedule.name, format: schedule.format, channel: schedule.channel },
    ...{ clientId: owner.clientId, dashboardId: schedule.openedId },
    user: seesData ? owner.userIdentifier : maskedAddress(owner.userIdentifier),
    isPaused: schedule.isPaused,
    mutedUntil: schedule.mutedUntil,
    nextAt: schedule.isPaused ? null : schedule.nextAt,
    last,
  };
};

export const listSchedules = declareCommand(
  'schedules-list',
  z.strictObject({ tenant }),
  z.object({ schedules: written<readonly ReturnType<typeof shownSchedule>[]>(), hasMore: z.boolean() }),
  readBy('support', 'auditor'),
);

const noSchedule = (): Refusal =>
  new Refusal('NOT_FOUND', 'There is no such schedule. Its user may have deleted it: read the list again.');

export const scheduleCommands = (schedules: SchedulesOfAll): readonly AdminCommand[] => {
  const setPaused = async (id: string, isPaused: boolean) => {
    if (!z.uuid().safeParse(id).success || !(await schedules.setPaused(id, isPaused))) throw noSchedule();
    return { id, isPaused };
  };
  return [
    adminCommand(listSchedules, async (input, by) => {
      const { schedules: found, hasMore } = await schedules.list(input.tenant);
      return { schedules: found.map((schedule) => shownSchedule(schedule, by)), hasMore };
    }),
    adminCommand(pauseSchedule, ({ id }) => setPaused(id, true)),
    adminCommand(resumeSchedule, ({ id }) => setPaused(id, false)),
  ];
};
