/** A host's page on another origin: it allows the service's scripts and requests, and no HTML from text. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Serves the page at any path; `bodyOf` writes its body from the path. The page records violations of its policy, and is
 * dark where the system is.
 * `asked`: the service that the elements ask, if it is not the one that they come from.
 */
export const startHostPage = async (service: string, bodyOf: (path: string) => string, asked = service) => {
  const policy = [
    "default-src 'none'",
    `script-src ${service} 'self'`,
    `connect-src ${asked}`,
    "style-src 'self'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
  const page = (path: string) =>
    `<!doctype html><html lang="en"><head><title>host</title><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/host.css"><script src="/host.js"></script><script type="module" src="${service}/elements.js"></script></head><body>${bodyOf(path)}</body></html>`;
  const script =
    "window.violations = []; document.addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI));";
  const style = ':root { color-scheme: light dark; background: Canvas; color: CanvasText; }';
  const files: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
    '/host.js': { type: 'text/javascript', text: script },
    '/host.css': { type: 'text/css', text: style },
  };
  const server = createServer(({ url = '' }, response) => {
    const file = files[url];
    response.setHeader('content-type', file?.type ?? 'text/html; charset=utf-8');
    response.setHeader('content-security-policy', policy);
    response.end(file?.text ?? page(url.slice(1)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
};
