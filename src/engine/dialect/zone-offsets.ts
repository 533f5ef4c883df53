/** From `since` on (Unix time in milliseconds, UTC; null: always before), the zone is `seconds` ahead of UTC. */
export type ZoneOffset = { readonly since: number | null; readonly seconds: number };

const dayMs = 86_400_000;
/** No zone changed its clocks twice within this time since 1970. */
const stepMs = 7 * dayMs;
const firstYear = 1900;
const lastYear = 2100;

const known = new Map<string, readonly ZoneOffset[]>();

/**
 * The zone's offsets from 1900 to 2100, oldest first. The first and the last extend beyond. For databases whose own
 * time zone data is unreliable.
 */
export const zoneOffsets = (zone: string): readonly ZoneOffset[] => {
  const seen = known.get(zone);
  if (seen !== undefined) return seen;
  const offsets = findOffsets(secondsAhead(zone));
  known.set(zone, offsets);
  return offsets;
};

const findOffsets = (secondsAt: (time: number) => number): readonly ZoneOffset[] => {
  const start = Date.UTC(firstYear, 0, 1);
  const end = Date.UTC(lastYear + 1, 0, 1);
  const offsets: ZoneOffset[] = [{ since: null, seconds: secondsAt(start) }];
  let before = offsets[0]?.seconds;
  for (let time = start; time < end; time += stepMs) {
    const seconds = secondsAt(time + stepMs);
    if (seconds === before) continue;
    offsets.push({ since: changeBetween(time, time + stepMs, secondsAt), seconds });
    before = seconds;
  }
  return offsets;
};

/** The first second of the later offset, by bisection. */
const changeBetween = (from: number, to: number, secondsAt: (time: number) => number): number => {
  const later = secondsAt(to);
  let [low, high] = [from, to];
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000;
    if (secondsAt(middle) === later) high = middle;
    else low = middle;
  }
  return high;
};

/** The offset in whole seconds at `time`. The year is left out, because formatting it is five times slower. */
const secondsAhead = (zone: string): ((time: number) => number) => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return (time) => {
    const [day = 0, hour = 0, minute = 0, second = 0] = (format.format(time).match(/[0-9]+/g) ?? []).map(Number);
    const utc = new Date(time);
    const days = daysAhead(day - utc.getUTCDate());
    const hours = days * 24 + hour - utc.getUTCHours();
    return (hours * 60 + minute - utc.getUTCMinutes()) * 60 + second - utc.getUTCSeconds();
  };
};

/**
 * From the difference of two days of the month. Offsets are below one day, so a large difference means a month
 * boundary.
 */
const daysAhead = (difference: number): number => {
  if (Math.abs(difference) <= 1) return difference;
  return difference < 0 ? 1 : -1;
};
