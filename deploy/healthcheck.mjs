// Asks this container's own Guestlist, and exits 0 if it answers 2xx: `node healthcheck.mjs /healthz` (the process is
// alive) or `/readyz` (it can serve requests). The image has no curl.
const [path = '/healthz'] = process.argv.slice(2);
const url = `http://127.0.0.1:${process.env.PORT || 3000}${path}`;

try {
  const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(2_500) });
  if (!ok) console.error(`${url} answered ${status}`);
  process.exitCode = ok ? 0 : 1;
} catch (error) {
  console.error(`${url} did not answer: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
