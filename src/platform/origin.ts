/** Whether a text is an origin exactly as a browser sends it: scheme, host, and a port other than the scheme's; nothing behind. */
export const isOrigin = (text: string): boolean => {
  try {
    const { origin, protocol } = new URL(text);
    return origin === text && (protocol === 'https:' || protocol === 'http:');
  } catch {
    // `*`, `null` and other texts without a scheme are nobody's origin.
    return false;
  }
};

/** What to write instead. */
export const originMend =
  'must be an origin as browsers send it, such as https://app.example.com: no path, no slash at the end, no *';
