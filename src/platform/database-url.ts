/** What DATABASE_URL may be. */
export const databaseUrlMend = 'must be postgres://user:password@host:port/database';

export const isDatabaseUrl = (text: string): boolean => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);

/** `host:port/database`, without user and password. */
export const placeOf = (databaseUrl: string): string => {
  const { hostname, port, pathname } = new URL(databaseUrl);
  return `${hostname}:${port === '' ? '5432' : port}${pathname}`;
};
