import '@guestlist/elements';
import { Numbers } from './numbers.jsx';

export const dynamic = 'force-dynamic';

export default async function Page({ searchParams }) {
  const { token, serviceUrl, dashboardId } = await searchParams;
  return <Numbers token={token} serviceUrl={serviceUrl} dashboardId={dashboardId} />;
}
