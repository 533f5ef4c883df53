'use client';
// The elements as React components. On a server they render an empty element: properties, the token among them, are set in the browser.
import {
  GuestlistDashboard as DashboardElement,
  GuestlistEditor as EditorElement,
  GuestlistMetric as MetricElement,
} from '@guestlist/elements';
import { createComponent } from '@lit/react';
import * as React from 'react';

const connectionEvents = {
  onTokenExpired: 'token-expired',
  onGuestlistLoaded: 'guestlist-loaded',
  onGuestlistError: 'guestlist-error',
};
const events = {
  ...connectionEvents,
  onGuestlistDrill: 'guestlist-drill',
  onGuestlistPointClick: 'guestlist-point-click',
};

export const GuestlistDashboard = createComponent({
  react: React,
  tagName: 'guestlist-dashboard',
  elementClass: DashboardElement,
  events: {
    ...events,
    onGuestlistDashboardChange: 'guestlist-dashboard-change',
    onGuestlistFilterChange: 'guestlist-filter-change',
    onGuestlistFiltersIgnored: 'guestlist-filters-ignored',
  },
});

export const GuestlistMetric = createComponent({
  react: React,
  tagName: 'guestlist-metric',
  elementClass: MetricElement,
  events,
});

export const GuestlistEditor = createComponent({
  react: React,
  tagName: 'guestlist-editor',
  elementClass: EditorElement,
  events: { ...connectionEvents, onGuestlistSaved: 'guestlist-saved' },
});
