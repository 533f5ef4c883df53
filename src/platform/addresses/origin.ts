/**
 * Whether the text is an origin exactly as a browser sends it: scheme, host, and the port if it is not the default.
 * Nothing may follow.
 */
export const isOrigin = (text: string): boolean => {
  try {
    const { origin, protocol } = new URL(text);
    return origin === text && (protocol === 'https:' || protocol === 'http:');
  } catch {
    // Texts without a scheme, such as `*` and `null`, are not origins.
    return false;
  }
};

/** Whether the origin is of this machine: its pages come from a program that runs here. */
export const isLocalOrigin = (origin: string): boolean =>
  /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/.test(origin);

const originOf = (text: string): string | undefined => {
  const { origin = 'null' } = URL.canParse(text) ? new URL(text) : {};
  return isOrigin(origin) ? origin : undefined;
};

/** Says what is wrong with a text that is no origin, and which origin was meant if that can be told. */
export const originFault = (text: unknown): string => {
  const meant = typeof text === 'string' ? originOf(text) : undefined;
  return meant === undefined ? originMend : `${originMend}; did you mean ${meant}?`;
};

/** Describes a valid origin. Used in messages. */
export const originMend =
  'must be an origin as browsers send it, such as https://app.example.com: no path, no slash at the end, no *';
