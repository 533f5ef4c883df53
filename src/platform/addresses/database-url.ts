/** The accepted forms of DATABASE_URL, as a message. */
export const databaseUrlMend =
  'must be postgres://user:password@host:port/database; where the primary may be one of several servers, postgres://user:password@host:port,host:port/database, with target_session_attrs=read-write, primary, or none at all';

/** Groups: scheme with user and password, the servers, and the rest. Commas separate servers only in the second group. */
const pattern = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/s;

/** Returns one URL for each server in DATABASE_URL, in the same order. */
export const serverUrls = (databaseUrl: string): readonly string[] => {
  const [, before = '', servers = '', after = ''] = pattern.exec(databaseUrl) ?? [];
  if (!servers.includes(',')) return [databaseUrl];
  return servers.split(',').map((server) => `${before}${server}${after}`);
};

/** The accepted values of `target_session_attrs`. Metadata must be writable, so all other values are refused. */
const sessionKinds: readonly (string | null)[] = [null, 'read-write', 'primary'];

const namesServer = (url: string): boolean => URL.canParse(url) && new URL(url).hostname !== '';

export const isDatabaseUrl = (text: string): boolean => {
  const urls = serverUrls(text);
  if (!/^postgres(ql)?:\/\//.test(text) || !urls.every((url) => URL.canParse(url))) return false;
  if (urls.length > 1 && !urls.every(namesServer)) return false;
  return urls.every((url) => sessionKinds.includes(new URL(url).searchParams.get('target_session_attrs')));
};

/** Whether connections must reach a primary. True if the URL names several servers or sets target_session_attrs. */
export const wantsPrimary = (databaseUrl: string): boolean =>
  serverUrls(databaseUrl).length > 1 || /[?&]target_session_attrs=/.test(databaseUrl);

/** Returns `host:port/database` without user and password. Several servers are separated by commas. */
export const placeOf = (databaseUrl: string): string => {
  const urls = serverUrls(databaseUrl).map((url) => new URL(url));
  const servers = urls.map(({ hostname, port }) => `${hostname}:${port === '' ? '5432' : port}`);
  return `${servers.join(',')}${urls[0]?.pathname ?? ''}`;
};
