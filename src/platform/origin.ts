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

/** Describes a valid origin. Used in messages. */
export const originMend =
  'must be an origin as browsers send it, such as https://app.example.com: no path, no slash at the end, no *';
