/** The trace of the page, which requests of its elements continue: W3C Trace Context, as the page's server wrote it. */

/** What is read of a page. Servers that draw elements have none. */
type Page = {
  readonly document?: { readonly querySelector: (selector: string) => { readonly content?: string } | null };
  readonly location?: { readonly href: string; readonly origin: string };
};
const page = globalThis as unknown as Page;

/** As the service reads it. Anything else is left out, so that a page's mistake stops no request. */
const traceparent = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The headers that continue the trace of `<meta name="traceparent" content="…">`. Empty: the page names none. */
export const pageTraceHeaders = (): Readonly<Record<string, string>> => {
  const named = page.document?.querySelector('meta[name="traceparent"]')?.content ?? '';
  return traceparent.test(named) ? { traceparent: named } : {};
};

/** The same for a URL that may be the host's: one of another origin may forbid the header, and would then not answer. */
export const ownTraceHeaders = (url: string): Readonly<Record<string, string>> => {
  const { location } = page;
  return location !== undefined && new URL(url, location.href).origin === location.origin ? pageTraceHeaders() : {};
};
