// Types only: `import type {} from '@guestlist/elements/jsx'` lets TypeScript know both elements in JSX.
export {};
