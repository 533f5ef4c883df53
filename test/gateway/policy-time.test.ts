/** Conditions on time: a token expires no later than the moment when time alone changes the decision. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/gateway/authenticate/signed-session.js';
import { createPolicyStep } from '../../src/gateway/policy/decide.js';
import { celMoment } from '../../src/gateway/policy/moment.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { analyst, createMovableClock, startGateway } from './harness.js';
import { policyOf } from './policies.js';

const minuteMs = 60_000;
const rule = (name: string, when: string, templates = ['delays'], more: object = {}) => ({
  name,
  when,
  grant: { templates, ...more },
});
const session: Session = {
  issuer: 'i',
  subject: 'ann',
  userIdentifier: 'i|ann',
  issuedAtMs: null,
  claims: { roles: ['night'] },
};
const at = (time: string, policy: Policy, who: Session = session) =>
  createPolicyStep({ now: () => new Date(time) })(policy, who, 'LAX', {});
const lifeAt = (time: string, policy: Policy, who: Session = session) => at(time, policy, who).expiryMs;
const ids = ({ templates }: { templates: readonly { template: string }[] }) =>
  templates.map(({ template }) => template);

const office = policyOf({
  rules: [
    rule('always', 'true'),
    rule('office hours', 'now.getHours("Europe/Lisbon") >= 9 && now.getHours("Europe/Lisbon") < 18', ['routes']),
  ],
});

describe('a rule on the time of day', () => {
  it('uses the timezone that it names, in summer and winter', () => {
    // Lisbon's time is UTC in winter and UTC+1 in summer.
    expect(ids(at('2026-01-15T17:59:59Z', office))).toEqual(['delays', 'routes']);
    expect(ids(at('2026-01-15T18:00:00Z', office))).toEqual(['delays']);
    expect(ids(at('2026-07-15T16:59:59Z', office))).toEqual(['delays', 'routes']);
    expect(ids(at('2026-07-15T17:00:00Z', office))).toEqual(['delays']);
  });

  it.each([
    ['2026-01-15T12:00:00Z', 60],
    ['2026-01-15T17:00:00Z', 60],
    ['2026-01-15T17:00:01Z', 30],
    ['2026-01-15T17:30:00Z', 30],
    ['2026-01-15T17:44:00Z', 15],
    // The reverse also holds: a new token has a permission from the minute from which it is granted.
    ['2026-01-15T08:31:00Z', 15],
    ['2026-01-15T18:00:00Z', 60],
  ])('at %s leaves a token %d minutes', (time, minutes) => {
    expect(lifeAt(time, office)).toBe(minutes * minuteMs);
  });

  it('leaves at least one second, so that a decision is valid when it is answered', () => {
    expect(lifeAt('2026-01-15T17:59:59.999Z', office)).toBe(1000);
  });

  it('shortens no token of a user whom it does not affect', () => {
    const policy = policyOf({
      rules: [rule('all', 'true'), rule('night', '"night" in user.roles && now.getHours("UTC") < 6', ['routes'])],
    });
    const day: Session = { ...session, claims: { roles: ['day'] } };
    expect(lifeAt('2026-01-15T05:50:00Z', policy, day)).toBe(60 * minuteMs);
    expect(lifeAt('2026-01-15T05:50:00Z', policy)).toBe(7.5 * minuteMs);
  });
});

it('computes hours and days in a timezone as the library does', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -2_000_000_000_000, max: 4_000_000_000_000 }),
      fc.constantFrom('UTC', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Apia', 'Europe/Lisbon'),
      (ms, timeZone) => {
        expect(celMoment(ms).toLocaleString('en-US', { timeZone })).toBe(
          new Date(ms).toLocaleString('en-US', { timeZone }),
        );
      },
    ),
  );
});

describe('the moment when a rule ends', () => {
  const policy = policyOf({
    expiryMinutes: 480,
    rules: [rule('trial', 'now < timestamp("2026-03-31T23:59:30Z")')],
  });
  it('is never exceeded by a token, even within a minute', () => {
    expect(lifeAt('2026-03-31T23:59:00Z', policy)).toBeLessThanOrEqual(30_000);
    expect(lifeAt('2026-03-31T23:59:00Z', policy)).toBeGreaterThan(15_000);
    expect(() => at('2026-03-31T23:59:30Z', policy)).toThrow(/No rule of/);
  });

  it('limits tokens of a policy with times to an hour, the maximum that is computed ahead', () => {
    expect(lifeAt('2026-03-01T00:00:00Z', policy)).toBe(60 * minuteMs);
    expect(lifeAt('2026-03-01T00:00:00Z', policyOf({ expiryMinutes: 480 }))).toBe(480 * minuteMs);
  });
});

describe('a restriction that begins at a time', () => {
  it('is in every token from then on', () => {
    const policy = policyOf({
      restrictions: [
        {
          name: 'evening',
          when: 'now.getHours("UTC") >= 20',
          restrict: { dashboardFilters: { State: '"CA"' } },
        },
      ],
    });
    expect(lifeAt('2026-01-15T19:45:00Z', policy)).toBe(15 * minuteMs);
    expect([...at('2026-01-15T20:00:00Z', policy).restriction.dashboardFilters]).toEqual([['State', 'CA']]);
  });

  it('a restriction with a value that depends on the time is valid until the value changes, or for a minute', () => {
    const valued = (value: string) =>
      policyOf({ restrictions: [{ name: 'r', when: 'true', restrict: { rls: { day: value } } }] });
    expect(lifeAt('2026-01-15T23:40:00Z', valued('now.getDate("UTC")'))).toBe(15 * minuteMs);
    expect(lifeAt('2026-01-15T12:00:00Z', valued('now.getMinutes("UTC")'))).toBe(56_250);
  });
});

describe('for any hours', () => {
  it("the decision is the same at every minute of a token's life", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 0, max: 86_399_999 }),
        fc.constantFrom('UTC', 'Asia/Kolkata', 'America/St_Johns'),
        (hour, minute, offsetMs, zone) => {
          const time = `now.getHours("${zone}") * 60 + now.getMinutes("${zone}")`;
          const policy = policyOf({
            rules: [rule('a', 'true'), rule('b', `${time} >= ${hour * 60 + minute}`, ['routes'])],
          });
          const startMs = Date.UTC(2026, 0, 15) + offsetMs;
          let nowMs = startMs;
          const decide = createPolicyStep({ now: () => new Date(nowMs) });
          const decided = (ms: number) => {
            nowMs = ms;
            return decide(policy, session, 'LAX', {});
          };
          const first = decided(startMs);
          const lastMs = first.expiryMs <= 1000 ? startMs : startMs + first.expiryMs - 1;
          for (let ms = startMs; ms <= lastMs; ms += minuteMs) expect(ids(decided(ms))).toEqual(ids(first));
          expect(ids(decided(lastMs))).toEqual(ids(first));
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe('the gateway with a policy that reads the time', () => {
  it('answers from the cache until a shorter token is needed, and never with one that outlives the rule', async () => {
    const clock = createMovableClock(Date.parse('2026-01-15T16:40:00Z'));
    const { granted, upstream } = await startGateway({ policy: office, clock });
    const seconds = clock.now().getTime() / 1000;
    const claims = { ...analyst, iat: seconds, exp: seconds + 7200 };
    const endMs = Date.parse('2026-01-15T18:00:00Z');
    const answers: { embeds: readonly { id: string }[]; expiresAt: string }[] = [];
    while (clock.now().getTime() < endMs) {
      answers.push(await granted(claims));
      clock.advance(4 * minuteMs);
    }
    expect(answers.every(({ expiresAt }) => Date.parse(expiresAt) <= endMs)).toBe(true);
    expect(answers.every(({ embeds }) => embeds.length === 2)).toBe(true);
    // There are twenty requests, and tokens end at half hours.
    expect(upstream.mints().length).toBeLessThan(12);
    expect((await granted(claims)).embeds).toEqual([{ id: 'delays--LAX', name: 'Delays', type: 'dashboard' }]);
  });
});
