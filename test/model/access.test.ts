import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AccessSettings } from '../../src/model/dashboard/embed.js';
import { effectivePermissions, isOpenTo } from '../../src/model/guest/access.js';
import { type GuestPermission, type GuestPermissions, guestPermissionNames } from '../../src/model/guest/grant.js';

const settings = (allow: boolean): AccessSettings => ({
  isAllowEmailReports: allow,
  isAllowManageMetrics: allow,
  isAllowCreateDashboardView: allow,
  isAllowMetricCreation: allow,
  isAllowMetricDeletion: allow,
  isAllowMetricLayoutChange: allow,
  isAllowMetricUpdate: allow,
  isAllowUnderlyingData: allow,
  metricCreationMode: 'DRAG_DROP',
  isAllowDashboardCreation: allow,
});

const anyPermissions = fc.record(Object.fromEntries(guestPermissionNames.map((name) => [name, fc.boolean()])), {
  requiredKeys: [],
}) as fc.Arbitrary<GuestPermissions>;

test('own dashboards need both: the token says true, and so does the embed', () => {
  const isOn = (token: GuestPermissions, embed: AccessSettings | null) =>
    effectivePermissions(token, embed).isEnableCreateDashboard;
  const granted = { isEnableCreateDashboard: true };
  const { isAllowDashboardCreation: _, ...silent } = settings(true);
  expect(isOn(granted, settings(true))).toBe(true);
  expect([settings(false), silent, null].map((embed) => isOn(granted, embed))).toEqual([false, false, false]);
  expect([{}, { isEnableCreateDashboard: false }].map((token) => isOn(token, settings(true)))).toEqual([false, false]);
});

describe('effective permissions', () => {
  test('left out by the token: the embed decides; left out by both: false, but for the name', () => {
    expect(effectivePermissions({}, settings(true)).isEnableUnderlyingData).toBe(true);
    expect(effectivePermissions({}, settings(false)).isEnableUnderlyingData).toBe(false);
    const nothing = effectivePermissions({}, null);
    expect(guestPermissionNames.filter((name) => nothing[name])).toEqual(['isShowDashboardName']);
  });

  test('a token takes away what the embed allows, and never adds to it', () => {
    fc.assert(
      fc.property(anyPermissions, (token) => {
        const denied = effectivePermissions(token, settings(false));
        expect(denied.isEnableUnderlyingData || denied.isEnableManageMetrics || denied.isEnableCustomizeLayout).toBe(
          false,
        );
        expect(denied.isDisableMetricCreation).toBe(true);
        const allowed = effectivePermissions(token, settings(true));
        for (const name of guestPermissionNames) {
          if (token[name] !== undefined) expect(allowed[name]).toBe(token[name]);
        }
      }),
      { seed: 3 },
    );
  });
});

const permissionOf = {
  isAllowManageMetrics: 'isEnableManageMetrics',
  isAllowCreateDashboardView: 'isEnableCreateDashboardView',
  isAllowMetricCreation: 'isDisableMetricCreation',
  isAllowMetricDeletion: 'isEnableArchiveMetrics',
  isAllowMetricLayoutChange: 'isEnableCustomizeLayout',
  isAllowMetricUpdate: 'isEnableMetricUpdation',
  isAllowUnderlyingData: 'isEnableUnderlyingData',
} as const satisfies Partial<Record<keyof AccessSettings, GuestPermission>>;

test.each(Object.entries(permissionOf))(
  'access setting %s decides %s, and no other permission',
  (setting, permission) => {
    for (const allow of [true, false]) {
      const before = effectivePermissions({}, settings(allow));
      const after = effectivePermissions({}, { ...settings(allow), [setting]: !allow });
      expect(guestPermissionNames.filter((name) => before[name] !== after[name])).toEqual([permission]);
      expect(after[permission]).toBe(permission === 'isDisableMetricCreation' ? allow : !allow);
    }
  },
);

test("what a client owns opens for that client of that data app alone; what nobody owns is the organization's", () => {
  const owner = { dataAppId: 'a', clientId: 'LAX' };
  expect(isOpenTo(null, owner)).toBe(true);
  expect(isOpenTo(owner, owner)).toBe(true);
  expect(isOpenTo(owner, { dataAppId: 'a', clientId: 'ATL' })).toBe(false);
  expect(isOpenTo(owner, { dataAppId: 'b', clientId: 'LAX' })).toBe(false);
  expect(isOpenTo(owner, { dataAppId: 'a', clientId: 'lax' })).toBe(false);
});
