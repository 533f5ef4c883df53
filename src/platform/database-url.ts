/** What DATABASE_URL may be. */
export const databaseUrlMend =
  'must be postgres://user:password@host:port/database; where the primary may be one of several servers, postgres://user:password@host:port,host:port/database, with target_session_attrs=read-write, primary, or none at all';

/** User and password, the servers, and what follows them. A comma separates servers nowhere else. */
const pattern = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/s;

/** One URL for each server that the URL names, in its order. */
export const serverUrls = (databaseUrl: string): readonly string[] => {
  const [, before = '', servers = '', after = ''] = pattern.exec(databaseUrl) ?? [];
  if (!servers.includes(',')) return [databaseUrl];
  return servers.split(',').map((server) => `${before}${server}${after}`);
};

/** Metadata are written: no other kind of server serves. */
const sessionKinds: readonly (string | null)[] = [null, 'read-write', 'primary'];

const namesServer = (url: string): boolean => URL.canParse(url) && new URL(url).hostname !== '';

export const isDatabaseUrl = (text: string): boolean => {
  const urls = serverUrls(text);
  if (!/^postgres(ql)?:\/\//.test(text) || !urls.every((url) => URL.canParse(url))) return false;
  if (urls.length > 1 && !urls.every(namesServer)) return false;
  return urls.every((url) => sessionKinds.includes(new URL(url).searchParams.get('target_session_attrs')));
};

/** Whether a connection counts only to a server that takes writes: where there is a choice, or the URL says so. */
export const wantsPrimary = (databaseUrl: string): boolean =>
  serverUrls(databaseUrl).length > 1 || /[?&]target_session_attrs=/.test(databaseUrl);

/** `host:port/database`, without user and password; several servers separated by commas. */
export const placeOf = (databaseUrl: string): string => {
  const urls = serverUrls(databaseUrl).map((url) => new URL(url));
  const servers = urls.map(({ hostname, port }) => `${hostname}:${port === '' ? '5432' : port}`);
  return `${servers.join(',')}${urls[0]?.pathname ?? ''}`;
};
