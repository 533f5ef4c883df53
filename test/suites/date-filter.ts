/** The date filter of a dashboard, as a guest uses it. */
import type { FrameLocator, Locator, Page } from 'playwright-core';

type Where = Page | FrameLocator | Locator;

/** The button that says the period of the filter and opens its panel. */
export const dateFilter = (where: Where): Locator => where.getByRole('button', { name: /^Date / });

/** Types days into the panel, and closes it. */
export const typeDates = async (
  where: Where,
  days: { readonly from?: string; readonly to?: string },
): Promise<void> => {
  await dateFilter(where).click();
  for (const [end, day] of Object.entries(days)) {
    await where.getByLabel(`Date ${end}`).fill(day);
    await where.getByLabel(`Date ${end}`).press('Enter');
  }
  await dateFilter(where).press('Escape');
};

export const choosePeriod = async (where: Where, name: string): Promise<void> => {
  await dateFilter(where).click();
  await where.getByRole('group', { name: 'Date period' }).getByRole('button', { name, exact: true }).click();
};
