// A page in Vite and React 19: the wrapper and the element itself, each with the token in the URL.
import { GuestlistDashboard } from '@guestlist/elements/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

const { token, serviceUrl, dashboardId } = Object.fromEntries(new URLSearchParams(location.search));

const Page = () => {
  const [name, setName] = useState('');
  return (
    <>
      <h1>{name}</h1>
      <GuestlistDashboard
        urlFilters={false}
        token={token}
        serviceUrl={serviceUrl}
        dashboardId={dashboardId}
        onGuestlistLoaded={({ detail }) => setName(detail.name)}
      />
      <guestlist-dashboard url-filters="off" token={token} service-url={serviceUrl} dashboardid={dashboardId} />
    </>
  );
};

createRoot(document.querySelector('#root')).render(<Page />);
