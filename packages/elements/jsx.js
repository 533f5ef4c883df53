// Types only: `import type {} from '@guestlist/elements/jsx'` lets TypeScript know the elements in JSX.
export {};
