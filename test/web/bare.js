/* The functions that a test calls on the page, and what the page recorded. */
window.host = {
  events: [],
  violations: [],
  mount(tag, attributes) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    document.querySelector('main').append(element);
  },
  set(selector, name, value) {
    const element = document.querySelector(selector);
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  },
};
for (const name of [
  'token-expired',
  'guestlist-error',
  'guestlist-loaded',
  'guestlist-tenant-change',
  'guestlist-dashboard-change',
]) {
  document.addEventListener(name, (event) => window.host.events.push({ name, detail: event.detail }));
}
document.addEventListener('securitypolicyviolation', (event) => {
  window.host.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
});
