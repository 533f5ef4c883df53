/** Returns the address as people may see it: its query may hold a credential. */
export const shownUrl = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};
