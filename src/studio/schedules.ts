/** The reports and alerts of all users as people in Studio see and pause them. */
import type { Request, Response } from 'express';
import { z } from 'zod';
import { maskedAddress } from '../domain/deliver/address.js';
import { toldSchedule } from '../domain/deliver/history.js';
import type { SchedulesOfAll, WatchedSchedule } from '../domain/deliver/operator.js';
import { Refusal } from '../domain/refusal.js';
import { nameInRecords, type Person } from '../domain/studio/person.js';
import type { Audit } from '../gateway/audit/audit.js';
import type { Origins } from '../gateway/authenticate/credential.js';
import { assertRole } from './access.js';
import { loggedInOf, readInput, requestIdOf, sendData } from './requests.js';
import type { StudioSessions } from './sessions.js';

type Options = {
  readonly sessions: StudioSessions;
  readonly origins: Origins;
  readonly schedules: SchedulesOfAll;
  readonly audit: Audit;
};

/** The roles that may read where messages go. */
export const scheduleReaders = ['support', 'auditor'] as const;

/** What an operator may know of a schedule. A person who sees no data sees no address of a user, nor what alerts found. */
const shownSchedule = (watched: WatchedSchedule, { seesData }: Person) => {
  const { owner, ...schedule } = watched;
  const { last } = seesData ? watched : toldSchedule(watched);
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

const noSchedule = (): Refusal =>
  new Refusal('NOT_FOUND', 'There is no such schedule. Its user may have deleted it: read the list again.');

/** Throws NOT_FOUND for a text that is no id. */
const scheduleIdOf = (request: Request): string => {
  const { data } = z.uuid().safeParse(request.params.id);
  if (data === undefined) throw noSchedule();
  return data;
};

const listQuery = z.strictObject({ tenant: z.string().min(1).max(255).optional() });

const tenantOf = ({ query }: Request): string | undefined => {
  const { data } = listQuery.safeParse(query);
  if (data !== undefined) return data.tenant;
  throw new Refusal('INVALID_REQUEST_BODY', 'Send no query parameter, or tenant: the id of one tenant.');
};

const pauseInput = z.strictObject({ isPaused: z.boolean() });

/** The reports and alerts of all users: where they go and what became of them, never what they say. */
export const createSchedulePaths = (options: Options) => {
  const { schedules, audit } = options;
  const loggedIn = loggedInOf(options);
  return {
    read: async (request: Request, response: Response): Promise<void> => {
      const { person } = (await loggedIn(request)).session;
      assertRole(person, 'deliveries', scheduleReaders);
      const { schedules: found, hasMore } = await schedules.list(tenantOf(request));
      await sendData(response, { schedules: found.map((schedule) => shownSchedule(schedule, person)), hasMore });
    },
    change: async (request: Request, response: Response): Promise<void> => {
      const { person } = (await loggedIn(request)).session;
      assertRole(person, 'pausing a schedule', ['support']);
      const { isPaused } = await readInput(request, pauseInput);
      const id = scheduleIdOf(request);
      const detail = { command: isPaused ? 'schedule-pause' : 'schedule-resume', operator: nameInRecords(person) };
      // Before the change: what cannot be recorded must not happen.
      await audit.record({
        kind: 'admin',
        code: 'OK',
        requestId: requestIdOf(response),
        detail: { ...detail, schedule: id },
      });
      if (!(await schedules.setPaused(id, isPaused))) throw noSchedule();
      await sendData(response, { id, isPaused });
    },
  };
};
