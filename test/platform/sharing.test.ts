import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { createLocalSharing } from '../../src/platform/redis/sharing.js';
import { describeSharing } from '../suites/sharing.js';

const sharing = createLocalSharing(createMemoryCache({ clock: { now: () => new Date() } }));
// Both replicas are users of one process.
describeSharing('memory', { replicas: () => [sharing, sharing], key: (name) => name });
